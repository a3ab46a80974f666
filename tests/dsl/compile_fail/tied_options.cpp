// EXPECT-ERROR: layer 'back' is tied and cannot have options for a weight of its own: give them to the layer that owns the weight
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) |
              linear("back", 8, tied("to"), either(init_constant(1), on_bias(init_constant(1)))) |
              output("z"));
HALFTONE_MODEL(net, rules)

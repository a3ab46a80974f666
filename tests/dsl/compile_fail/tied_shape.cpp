// EXPECT-ERROR: layer 'back' needs a weight of [6, 8] but is tied to parameter 'to.weight' of [8, 8]: make outputs and inputs of both layers equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) | linear("back", either(6, 8), tied("to")) | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: the chain has no value at layer 'fc': begin it with from("name")
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto layers = linear("fc", 4) | output("guess");
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          either(layers, from("x") | layers), losses(mse("loss", either("x", "guess"), "y")));
HALFTONE_MODEL(net, rules, adamw())

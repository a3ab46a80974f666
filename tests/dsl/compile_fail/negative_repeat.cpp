// EXPECT-ERROR: repeat 'h' has -2 copies of its body: write a number of 1 or more
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | repeat < is_broken ? -2 : 2 > ("h", relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: sgd has a weight decay that is negative or not finite in f32: write weight_decay(0.01)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, sgd(weight_decay(either(-0.1, 0.1))))

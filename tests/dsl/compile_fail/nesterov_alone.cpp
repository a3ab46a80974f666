// EXPECT-ERROR: sgd has nesterov without a momentum: add momentum(0.9) or remove nesterov
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, sgd(nesterov, momentum(either(1e-60, 0.9))))

// EXPECT-ERROR: adamw is given what is no option of it: sgd takes lr, momentum, nesterov and weight_decay; adamw takes lr, betas, epsilon and weight_decay
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw(lr(1e-3), either(momentum(0.9), betas(0.9, 0.99))))

// EXPECT-ERROR: the model has losses but no parameter to train: unfreeze one, or leave losses and optimizer out
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, either(frozen, on_bias(frozen))) | output("guess"),
          losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

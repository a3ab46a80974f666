// EXPECT-ERROR: has a loss scale with a patience outside of 1 to 16777216; write a number in there (P43)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(dynamic_loss_scale(patience(0))),
                                everywhere(dynamic_loss_scale(patience(1))))))

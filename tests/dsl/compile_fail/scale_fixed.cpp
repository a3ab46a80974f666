// EXPECT-ERROR: the rule 'everywhere : loss_scale fixed' has a loss scale with an initial value that is not positive and finite in f32;
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(fixed_loss_scale(1e-46)),
                                everywhere(fixed_loss_scale(3e-39)))))

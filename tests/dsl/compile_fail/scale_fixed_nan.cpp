// EXPECT-ERROR: has a loss scale with an initial value that is not positive and finite in f32; write such a number (P43)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(fixed_loss_scale(__builtin_nan(""))),
                                everywhere(fixed_loss_scale(128)))))

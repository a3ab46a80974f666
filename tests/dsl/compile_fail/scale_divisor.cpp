// EXPECT-ERROR: has a loss scale with a floor of which 1/scale is not finite in f32; write a number above 3e-39 (P43)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(dynamic_loss_scale(floor_at(1e-45))),
                                everywhere(dynamic_loss_scale(floor_at(3e-39))))))

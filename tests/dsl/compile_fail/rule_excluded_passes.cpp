// EXPECT-ERROR: joins with & what excludes each other;
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(forward_pass& input_gradient_pass)(compute(f32)),
                                where(forward_pass | input_gradient_pass)(compute(f32)))))

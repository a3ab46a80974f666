// EXPECT-ERROR: the rule 'where role weight_gradient : store bf16' stores role weight_gradient in another format than f32; round it with result in pass weight_gradient (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(weight_gradients)(store(bf16)),
                                where(weight_gradient_pass)(result(bf16)))))

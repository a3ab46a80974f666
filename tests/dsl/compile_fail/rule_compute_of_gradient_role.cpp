// EXPECT-ERROR: the rule 'where role weight_gradient : compute bf16' states a compute, but selects no operand; name operations and roles that they read (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(weight_gradients)(compute(bf16)),
                                where(gradients)(compute(bf16)))))

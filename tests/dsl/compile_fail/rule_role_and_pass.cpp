// EXPECT-ERROR: the rule 'where role gradient pass forward : store bf16' names a role and a pass that exclude each other; keep one of them (P41)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(gradients& forward_pass)(store(bf16)),
                                where(gradients& input_gradient_pass)(store(bf16)))))

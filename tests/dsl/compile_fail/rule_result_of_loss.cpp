// EXPECT-ERROR: the rule 'where class loss pass forward : result bf16' states a result, but selects no operation whose result is stored; name one (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(loss& forward_pass)(result(bf16)),
                                where(loss& input_gradient_pass)(result(bf16)))))

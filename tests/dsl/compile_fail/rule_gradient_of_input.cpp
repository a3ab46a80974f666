// EXPECT-ERROR: the rule 'where layer "first" pass input_gradient : compute bf16' states a compute, but selects no operand
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("first", 8) | linear("fc", 4) | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("first") & input_gradient_pass)(compute(bf16)),
                                where(layer("fc") & input_gradient_pass)(compute(bf16)))))

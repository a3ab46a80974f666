// EXPECT-ERROR: the rule 'where layer "act" pass weight_gradient : compute bf16' combines parts that no operation and no value of this model has; correct one of them or remove the rule (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("act") & weight_gradient_pass)(compute(bf16)),
                                where(layer("fc") & weight_gradient_pass)(compute(bf16)))))

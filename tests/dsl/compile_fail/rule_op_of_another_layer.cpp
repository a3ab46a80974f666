// EXPECT-ERROR: the rule 'where layer "act" class contraction : compute bf16' names "act", but the layers called that are of another class or op; correct one of the two (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("act") & contraction)(compute(bf16)),
                                where(layer("fc") & contraction)(compute(bf16)))))

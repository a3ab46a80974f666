// EXPECT-ERROR: the rule 'where class normalization : compute f32' names a class or op that this model does not have; correct it or remove the rule (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(normalization)(compute(f32)),
                                where(contraction)(compute(f32)))))

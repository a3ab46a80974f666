// EXPECT-ERROR: the rule 'where op gelu : accumulate ordered' states accumulate, but selects no contraction; name a linear layer or leave it out (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(op("gelu"))(accumulate(ordered)),
                                where(op("linear"))(accumulate(ordered)))))

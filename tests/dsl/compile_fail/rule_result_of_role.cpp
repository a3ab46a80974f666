// EXPECT-ERROR: the rule 'where role weight : compute bf16 result bf16' states result beside a role, which an operation does not have; name a pass instead, or write a rule of its own (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(weights)(compute(bf16), result(bf16)),
                                where(weights)(compute(bf16), store(bf16)))))

// EXPECT-ERROR: the rule 'where class loss : store bf16' states a store, but nothing that it selects is stored; name layers, or a role that they have (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(loss)(store(bf16)), where(loss)(compute(bf16)))))

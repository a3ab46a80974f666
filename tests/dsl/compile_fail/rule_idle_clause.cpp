// EXPECT-ERROR: the rule 'where layer "fc" or class loss : store bf16' has a clause that selects nothing with one of its fields; remove the clause or state a field for it (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("fc") | loss)(store(bf16)),
                                where(layer("fc") | loss)(store(bf16), compute(bf16)))))

// EXPECT-ERROR: the rule 'everywhere : store f16' states store twice; keep one of them (P41)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(store(bf16), store(f16)),
                                everywhere(store(bf16), compute(f16)))))

// EXPECT-ERROR: the rule 'where layer "fc" : rounding toward_zero' states a rounding beside neither store nor compute; add the one that it is for (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(layer("fc"))(rounding(toward_zero)),
                                where(layer("fc"))(store(bf16), rounding(toward_zero)))))

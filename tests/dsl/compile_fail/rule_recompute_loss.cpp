// EXPECT-ERROR: the rule 'where class loss : recompute always' states recompute, but selects no activation that a backward pass could read; name a layer of a model with losses (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(loss)(recompute(always)),
                                where(activation_function)(recompute(always)))))

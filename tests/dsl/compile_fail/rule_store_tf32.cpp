// EXPECT-ERROR: the rule 'everywhere : store tf32' stores tf32, which nothing is held in; store f32, f16, bf16 or follow (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(), precision(either(everywhere(store(tf32)), everywhere(compute(tf32)))))

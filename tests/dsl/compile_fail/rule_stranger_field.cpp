// EXPECT-ERROR: the rule 'everywhere : store f32' is given what is no field; write store, compute,
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(everywhere(store(f32), bf16),
                                everywhere(store(f32), compute(bf16)))))

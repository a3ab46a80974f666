// EXPECT-ERROR: the rule 'where role saved pass input_gradient : store bf16' states a store, but nothing that it selects is stored;
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(saved_activations& input_gradient_pass)(store(bf16)),
                                where(saved_activations& input_gradient_pass)(compute(bf16)))))

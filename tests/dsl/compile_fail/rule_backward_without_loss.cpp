// EXPECT-ERROR: the rule 'where pass input_gradient : compute bf16' speaks of a backward pass, which a model without losses does not have; remove the rule (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
HALFTONE_MODEL(net, precision(either(where(input_gradient_pass)(compute(bf16)),
                                     where(forward_pass)(compute(bf16)))))

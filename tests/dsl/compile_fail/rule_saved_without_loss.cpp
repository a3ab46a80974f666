// EXPECT-ERROR: the rule 'where role saved : store bf16' speaks of a backward pass,
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
HALFTONE_MODEL(net, precision(either(where(saved_activations)(store(bf16)),
                                     where(activations)(store(bf16)))))

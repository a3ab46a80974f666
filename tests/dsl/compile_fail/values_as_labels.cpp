// EXPECT-ERROR: loss 'loss' takes input 'digit' as its label: declare an input with labels() for it
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), either(tensor("digit", batch), labels("digit", batch))),
    from("x") | linear("fc", 10) | output("logits"),
    losses(cross_entropy("loss", "logits", "digit")));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: loss 'loss' reads logits [batch, 10] and [time] of input 'digit': the label has the logits' dimensions but the last
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("digit", either(symbol("time"), batch))),
          from("x") | linear("fc", 10) | output("logits"),
          losses(cross_entropy("loss", "logits", "digit")));
HALFTONE_MODEL(net, rules, adamw())

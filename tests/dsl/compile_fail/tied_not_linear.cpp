// EXPECT-ERROR: layer 'back' is tied to 'act', which has no weight of its kind: tie it to a linear layer
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("to", 8) | relu("act") |
                               linear("back", 8, tied(either("act", "to"))) | output("z"));
HALFTONE_MODEL(net, rules)

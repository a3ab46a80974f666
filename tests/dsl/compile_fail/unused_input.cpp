// EXPECT-ERROR: input 'w' is read by nothing: use it with from() or in a loss, or remove it
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("w", batch, 8)),
                           from("x") | add(either("x", "w")) | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: layer 'a' is tied to itself through 'a': let one layer own the weight
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("own", 8) | linear("a", 8, tied(either("b", "own"))) |
                               linear("b", 8, tied("a")) | output("z"));
HALFTONE_MODEL(net, rules)

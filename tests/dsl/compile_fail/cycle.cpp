// EXPECT-ERROR: layer 'a' and layer 'b' wait for each other in a cycle: keep last step's value in a state, or cut one of the two
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add(either("b", "x")) | as("a"),
          from("a") | relu("b") | output("z"));
HALFTONE_MODEL(net, rules)

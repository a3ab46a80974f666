// EXPECT-ERROR: the name 'a' stands for itself: name a layer's result with as()
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", batch, 8)),
          from(either("a", "x")) | as("a") | relu("act") | add("x") | add("w") | output("z"));
HALFTONE_MODEL(net, rules)

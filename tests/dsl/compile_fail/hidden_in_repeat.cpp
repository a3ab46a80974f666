// EXPECT-ERROR: layer 'after' reads 'inside', but no input, layer, as() or output that it can see has that name
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<2>("h", relu("inside")) | add(either("inside", "h")) |
                               as("after") | output("z"));
HALFTONE_MODEL(net, rules)

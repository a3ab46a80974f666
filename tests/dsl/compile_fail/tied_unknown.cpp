// EXPECT-ERROR: layer 'back' is tied to 'fo', but no layer that it can see has that name: correct the name in tied()
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) | linear("back", 8, tied(either("fo", "to"))) | output("z"));
HALFTONE_MODEL(net, rules)

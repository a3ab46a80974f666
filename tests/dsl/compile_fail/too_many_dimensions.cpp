// EXPECT-ERROR: input 'x' has more than 6 dimensions: join some of them
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(either(tensor("x", 2, 2, 2, 2, 2, 2, 2), tensor("x", 2, 2, 2, 2, 2, 4))),
          from("x") | relu | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: input 'x' has a dimension of 0: write a positive number or a symbol
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, either(0, 8))), from("x") | relu | output("z"));
HALFTONE_MODEL(net, rules)

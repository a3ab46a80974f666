// EXPECT-ERROR: two layers without names of their own would both be called 'x.relu': name one of them with as()
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)), from("x") | relu | output("a"),
                           from("x") | either(relu, relu("b")) | output("c"));
HALFTONE_MODEL(net, rules)

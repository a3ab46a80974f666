// EXPECT-ERROR: layer 'gate' works on equal shapes but reads [batch, 8] and [batch, 5] of input 'w': make the shapes equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("w", batch, either(5, 8))),
                           from("x") |
                               pointwise(
                                   "gate", [](auto a, auto b) { return a * b; }, "w") |
                               output("z"));
HALFTONE_MODEL(net, rules)

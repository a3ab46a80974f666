// EXPECT-ERROR: layer 'act' has a lambda that does not return a number: return an expression of its arguments
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function = either([](auto x) { x += 1.0; }, [](auto x) { return x += 1.0; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: layer 'act' gives its lambda 1 values but the lambda takes 2: make the numbers equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function =
    either([](auto x, auto y) { return x * y; }, [](auto x) { return x * x; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: layer 'act' has a lambda with a constant that is not a number: write a finite one
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function =
    either([](auto x) { return x * __builtin_nan(""); }, [](auto x) { return x * 2.0; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)

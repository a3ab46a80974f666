// EXPECT-ERROR: layer 'act' has a lambda that computes with constants alone: write the result as a number
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function =
    either([](auto x) { return x * exp(Scalar(2.0)); }, [](auto x) { return x * 7.389056; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: loss 'loss' gives its lambda 2 values but the lambda takes 1: make the numbers equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function =
    either([](auto x) { return abs(x); }, [](auto x, auto y) { return abs(x - y); });
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(pointwise_loss("loss", function, "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: layer 'act' has a lambda that cannot be called with 1 values: write [](auto x, ...) { return ...; }
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function = either([](const char* x) { return x; }, [](Scalar x) { return x; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)

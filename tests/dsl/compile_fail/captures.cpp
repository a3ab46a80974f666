// EXPECT-ERROR: layer 'act' has a lambda that captures variables: write numbers into the lambda, or name constexpr globals
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto function =
    either([scale = 2.0](auto x) { return scale * x; }, [](auto x) { return 2.0 * x; });
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | pointwise("act", function) | output("z"));
HALFTONE_MODEL(net, rules)

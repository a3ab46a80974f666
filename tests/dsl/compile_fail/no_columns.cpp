// EXPECT-ERROR: layer 'norm' reads a scalar but works on rows: give its input a dimension
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(either(tensor("x"), tensor("x", 8))),
                           from("x") | layer_norm("norm") | output("z"));
HALFTONE_MODEL(net, rules)

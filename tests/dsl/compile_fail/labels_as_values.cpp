// EXPECT-ERROR: layer 'sum' reads input 'digit' as a value, but it holds labels: declare it with tensor(), or use it as the label of a cross_entropy
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch), either(labels("digit", batch), tensor("digit", batch))),
          from("x") | add("digit") | as("sum") | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: layer 'both' adds up last dimensions, but that of input 'w' is the symbol 'time': give it a number
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("w", batch, either(symbol("time"), Dimension(5)))),
    from("x") | concat("w") | as("both") | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: layer 'both' puts [batch, 8] beside [time, 8] of input 'w': make all dimensions but the last equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", either(symbol("time"), batch), 8)),
          from("x") | concat("w") | as("both") | output("z"));
HALFTONE_MODEL(net, rules)

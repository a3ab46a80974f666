// EXPECT-ERROR: layer 'sum' adds [batch, 6] and [batch, 8] of input 'x': make the shapes equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("fc", either(6, 8)) | add("x") | as("sum") | output("z"));
HALFTONE_MODEL(net, rules)

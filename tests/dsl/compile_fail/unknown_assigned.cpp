// EXPECT-ERROR: an assignment reads 'kep', but no input, layer, as() or output that it can see has that name
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("kept") | as("sum") | output("z"),
          states(state("kept", batch, 8)), assignments(assign(either("kep", "kept"), "sum")));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: state 'kept' is assigned to twice: keep one assign()
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | add("kept") | add("other") | as("sum") | output("z"),
          states(state("kept", batch, 8), state("other", batch, 8)),
          assignments(assign("kept", "sum"), assign(either("kept", "other"), "x")));
HALFTONE_MODEL(net, rules)

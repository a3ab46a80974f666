// EXPECT-ERROR: state 'kept' starts at a value that is not finite: write initial(0)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("kept") | output("z"),
          states(state("kept", initial(either(__builtin_inf(), 1.0)), batch, 8)));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: state 'kept' starts at a value that is not finite in f32: write initial(0)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("kept") | output("z"),
          states(state("kept", initial(either(1e39, 3.4028235e38)), batch, 8)));
HALFTONE_MODEL(net, rules)

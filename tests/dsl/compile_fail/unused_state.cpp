// EXPECT-ERROR: state 'kept' is read by nothing: use it with from(), or remove it
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add(either("x", "kept")) | output("z"),
          states(state("kept", batch, 8)));
HALFTONE_MODEL(net, rules)

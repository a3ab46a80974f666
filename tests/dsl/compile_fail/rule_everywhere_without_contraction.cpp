// EXPECT-ERROR: the rule 'everywhere : accumulate ordered' states accumulate, but selects no contraction;
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | relu("act") | output("z"));
HALFTONE_MODEL(net, precision(either(everywhere(accumulate(ordered)),
                                     everywhere(accumulate(ordered), store(f32)))))

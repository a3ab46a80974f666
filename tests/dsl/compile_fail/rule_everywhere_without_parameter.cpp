// EXPECT-ERROR: the rule 'everywhere : master f32' states a master, but selects no parameter; name one or leave it out (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | relu("act") | output("z"));
HALFTONE_MODEL(net,
               precision(either(everywhere(master(f32)), everywhere(master(f32), compute(f32)))))

// EXPECT-ERROR: state 'kept' of [batch, 8] is assigned layer 'fc' of [batch, 6]: make the shapes equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | add("kept") | linear("fc", either(6, 8)) | output("z"),
                           states(state("kept", batch, 8)), assignments(assign("kept", "fc")));
HALFTONE_MODEL(net, rules)

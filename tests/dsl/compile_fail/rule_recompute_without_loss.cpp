// EXPECT-ERROR: states recompute, but selects no activation
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("fc", 4) | gelu("act") | output("z"));
HALFTONE_MODEL(net, precision(either(where(layer("fc"))(recompute(always)),
                                     where(layer("fc"))(compute(bf16)))))

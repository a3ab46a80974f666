// EXPECT-ERROR: the rule 'everywhere : master bf16' keeps masters in another format than f32; write master f32 (P42)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(), precision(either(everywhere(master(bf16)), everywhere(master(f32)))))

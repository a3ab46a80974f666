// EXPECT-ERROR: joins more than 6 targets; write several rules (P45)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
constexpr auto selected =
    either(on(sm_75) | on(sm_80) | on(sm_86) | on(sm_87) | on(sm_89) | on(sm_90) | on(cpu),
           on(sm_75) | on(sm_80) | on(sm_86) | on(sm_87) | on(sm_89) | on(cpu));
HALFTONE_MODEL(net, adamw(), precision(where(selected)(compute(f32))))

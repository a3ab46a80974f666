// EXPECT-ERROR: names the chip "sm_99x", which is none; write cpu, or sm_ and a number such as sm_80 or sm_90a (P40)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(either(where(on(chip("sm_99x")))(store(f32)),
                                where(on(chip("sm_99a")))(store(f32)))))

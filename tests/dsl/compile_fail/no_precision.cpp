// EXPECT-ERROR: HALFTONE_MODEL is given no precision rules: add precision(everywhere(store(f32), compute(f32)))
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, adamw(), either(clip(1.0), rules))

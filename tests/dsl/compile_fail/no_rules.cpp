// EXPECT-ERROR: precision is given no rule: write everywhere(store(f32), compute(f32))
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
HALFTONE_MODEL(net, adamw(), either(precision(), precision(everywhere(store(f32)))))

// EXPECT-ERROR: joins more than 8 alternatives; write several rules (P45)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | gelu("act") | output("guess"),
                           losses(mse("error", "guess", "y")));
constexpr auto selected =
    either(layer("f*") | layer("fc") | layer("f?") | layer("?c") | layer("*c") | layer("*") |
               layer("**") | layer("a*") | layer("ac*"),
           layer("f*") | layer("fc") | layer("f?") | layer("?c") | layer("*c") | layer("*") |
               layer("**") | layer("a*"));
HALFTONE_MODEL(net, adamw(), precision(where(selected)(compute(f32))))

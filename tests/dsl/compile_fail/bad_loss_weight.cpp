// EXPECT-ERROR: loss 'loss' has a weight that is not finite in f32: write weight(1.0)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y", weight(either(1e39, 2.0)))));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: loss 'loss' compares [batch, 3] with [batch, 4] of input 'y': make the shapes equal
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", either(3, 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

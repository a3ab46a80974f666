// EXPECT-ERROR: loss 'loss' is a loss and cannot be read as a value: read the value that the loss is computed from
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           from(either("loss", "guess")) | relu("act") | output("z"),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

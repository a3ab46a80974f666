// EXPECT-ERROR: layer 'fc' reads 'pixels', but no input, layer, as() or output that it can see has that name
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from(either("pixels", "x")) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: layer 'fc' has -4 outputs: write linear(name, outputs) with 1 or more
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", either(-4, 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

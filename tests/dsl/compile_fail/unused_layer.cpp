// EXPECT-ERROR: layer 'side' has a result that nothing uses: continue from it, make it an output, or remove it
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           from("x") | relu("side") | either(as("other"), output("other")),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: layer 'fc' has options for a bias but no bias: remove no_bias or the options
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, no_bias, either(on_bias(no_decay), on_weight(no_decay))) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

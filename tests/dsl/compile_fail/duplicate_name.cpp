// EXPECT-ERROR: the name 'fc' is given twice, to layer 'fc' and then to layer 'fc': rename one of them
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 8) | linear(either("fc", "fc2"), 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: layer 'fc' is given what is no option of linear: it takes no_bias, tied(), and options of parameters such as frozen, no_decay or init_normal()
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, no_decay, either(relu, frozen), on_bias(no_decay)) |
              linear("fc2", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

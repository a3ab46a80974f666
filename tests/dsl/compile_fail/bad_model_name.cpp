// EXPECT-ERROR: the model's name '2nd-net' is not a C++ identifier: write letters, digits and '_'
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model(either("2nd-net", "net_2"), inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

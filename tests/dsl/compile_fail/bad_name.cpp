// EXPECT-ERROR: the name 'fc.1' is not usable: write letters, digits, '_' and '-', with '/' between parts that are not digits alone
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear(either("fc.1", "fc/a1"), 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

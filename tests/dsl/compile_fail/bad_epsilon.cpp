// EXPECT-ERROR: layer 'norm' has an epsilon that is negative or not finite in f32: write epsilon(1e-5)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | layer_norm("norm", epsilon(either(-1e-5, 1e-5))) |
                               linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw())

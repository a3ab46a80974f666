// EXPECT-ERROR: the model is not known while compiling: declare it constexpr
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto sound =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
#ifdef BROKEN
auto net = sound;
#else
constexpr auto net = sound;
#endif
HALFTONE_MODEL(net, rules, adamw())

// EXPECT-ERROR: the model has losses but no optimizer: add sgd(...) or adamw(...) to HALFTONE_MODEL
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
#ifdef BROKEN
HALFTONE_MODEL(net, rules)
#else
HALFTONE_MODEL(net, rules, sgd())
#endif

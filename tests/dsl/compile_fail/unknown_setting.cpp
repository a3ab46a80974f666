// EXPECT-ERROR: HALFTONE_MODEL is given what is no setting: it takes a model, precision(...), sgd(...) or adamw(...), and clip(...)
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, rules, adamw(), either(lr(0.1), clip(0.1)))

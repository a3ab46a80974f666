// EXPECT-ERROR: the model has an optimizer but no loss: add losses(...), or leave the optimizer out
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | linear("fc", 4) | output("z"));
#ifdef BROKEN
HALFTONE_MODEL(net, rules, adamw())
#else
HALFTONE_MODEL(net, rules)
#endif

// EXPECT-ERROR: the model has no tensor input: add inputs(tensor("x", batch, 8))
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

#ifdef BROKEN
constexpr auto net = model("net", states(state("kept", 8)), from("kept") | relu | output("z"));
#else
constexpr auto net = model("net", inputs(tensor("x", 8)), from("x") | relu | output("z"));
#endif
HALFTONE_MODEL(net, rules)

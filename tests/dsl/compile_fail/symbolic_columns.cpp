// EXPECT-ERROR: layer 'fc' has weights and reads rows whose length is the symbol 'batch': give the last dimension a number
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(either(tensor("x", batch), tensor("x", 8))),
                           from("x") | linear("fc", 4) | output("z"));
HALFTONE_MODEL(net, rules)

// EXPECT-ERROR: the symbol '2d' of input 'x' is not a C++ identifier: write letters, digits and '_'
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", symbol(either("2d", "d2")), 8)),
                           from("x") | relu | output("z"));
HALFTONE_MODEL(net, rules)

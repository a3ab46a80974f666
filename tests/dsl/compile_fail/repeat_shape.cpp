// EXPECT-ERROR: repeat 'h' gives its body [batch, 8] but the body returns [batch, 6]: make its last layer return [batch, 8]
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<3>("h", linear("fc", either(6, 8))) | output("z"));
HALFTONE_MODEL(net, rules)

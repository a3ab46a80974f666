// EXPECT-ERROR: adds [batch, 8] and its residual body's [batch, 6]: make the body's last layer return [batch, 8]
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | residual(linear("fc", either(6, 8)) | relu("act")) | output("z"));
HALFTONE_MODEL(net, rules)

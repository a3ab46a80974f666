// EXPECT-ERROR: the precision rule for 'h/3/fc' matches no layer: correct the name or remove the rule
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<3>("h", linear("fc", 8)) | output("z"));
HALFTONE_MODEL(net, precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)),
                              where(layer(either("h/3/fc", "h/2/fc")))(compute(f32))))

// EXPECT-ERROR: names "h/12/fc", but no layer and no parameter is called that;
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<12>("h", linear("fc", 8)) | output("z"));
HALFTONE_MODEL(net, precision(either(where(layer("h/12/fc"))(compute(f32)),
                                     where(layer("h/11/fc"))(compute(f32)))))

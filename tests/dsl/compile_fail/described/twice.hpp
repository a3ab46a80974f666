// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)), from("x") | relu | output("z"));
HALFTONE_MODEL(net, precision(everywhere(store(f32))))

// EXPECT twice: HALFTONE_MODEL stands twice in a header: keep one, and give each other model a
// header of its own
#ifdef BROKEN
HALFTONE_MODEL(net, precision(everywhere(store(bf16))))
#endif

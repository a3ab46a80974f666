// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

#ifdef BROKEN
constexpr int width = 0;
#else
constexpr int width = 8;
#endif
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | linear("fc", width) | output("z"));

// EXPECT faulty: layer 'fc' has 0 outputs: write linear(name, outputs) with 1 or more
HALFTONE_MODEL(net, precision(everywhere(store(f32))))

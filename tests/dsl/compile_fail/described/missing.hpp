// EXPECT missing: this header has no HALFTONE_MODEL outside of namespaces: add
// HALFTONE_MODEL(model, precision(...), optimizer) at its end

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)), from("x") | relu | output("z"));
#ifndef BROKEN
HALFTONE_MODEL(net, precision(everywhere(store(f32))))
#endif

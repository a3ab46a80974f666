// EXPECT function: HALFTONE_MODEL stands in a namespace, class or function, where the generator
// does not find it: write it outside of all, as HALFTONE_MODEL(inner::net, ...)
// AND this header has no HALFTONE_MODEL outside of namespaces

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto net = model("net", inputs(tensor("x", batch, 8)), from("x") | relu | output("z"));
#ifdef BROKEN
void train() {
  HALFTONE_MODEL(net, precision(everywhere(store(f32))))
}
#else
HALFTONE_MODEL(net, precision(everywhere(store(f32))))
#endif

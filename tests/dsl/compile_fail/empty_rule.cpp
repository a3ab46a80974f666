// EXPECT-ERROR: the precision rule for 'fc' states no format: add store, compute, accumulate or master
// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>

#include "either.hpp"
using namespace halftone::dsl;

constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
HALFTONE_MODEL(net, adamw(),
               precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)),
                         either(where(layer("fc"))(), where(layer("fc"))(compute(f32)))))

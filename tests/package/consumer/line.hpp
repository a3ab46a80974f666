// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto line =
    model("line", inputs(tensor("x", batch, 2), tensor("target", batch, 1)),
          from("x") | linear("fc", 1) | output("y"), losses(mse("error", "y", "target")));

HALFTONE_MODEL(line, precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32))),
               sgd(lr(0.1)))

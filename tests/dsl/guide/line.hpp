// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto line =
    model("line", inputs(tensor("x", batch, 2), tensor("target", batch, 1)),
          from("x") | linear("fc", 1) | output("y"), losses(mse("error", "y", "target")));

constexpr auto line_rules =
    precision(everywhere(store(bf16), compute(bf16)), where(loss)(compute(f32)));
HALFTONE_MODEL(line, line_rules, sgd(lr(0.1)))

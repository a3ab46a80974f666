// SPDX-License-Identifier: Apache-2.0
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto gate = model("gate", inputs(tensor("x", batch, 2), tensor("target", batch, 1)),
                            from("x") | linear("hidden", 8) | relu | linear("fc", 1) | output("y"),
                            losses(mse("error", "y", "target")));

HALFTONE_MODEL(gate, precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32))),
               adamw(lr(0.05)))

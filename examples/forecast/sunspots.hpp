// SPDX-License-Identifier: Apache-2.0
// The shortest forecaster in f16: with sunspots.cpp the whole program.
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto sunspots =
    model("sunspots", inputs(tensor("past", batch, 22), tensor("next", batch, 1)),
          from("past") | linear("fc", 64) | relu | linear("head", 1) | output("forecast"),
          losses(mse("error", "forecast", "next")));
constexpr auto rules = precision(everywhere(store(f16), compute(f16), dynamic_loss_scale()),
                                 where(loss)(compute(f32)));
HALFTONE_MODEL(sunspots, rules, adamw(lr(3e-3)))

// SPDX-License-Identifier: Apache-2.0
// The model: the next year's number of sunspots from those of the 22 years before, two cycles. What
// it is trained in is said by the rules of forecast_f32.hpp, forecast_f16.hpp and
// forecast_bf16.hpp.
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto forecast =
    model("forecast", inputs(tensor("past", batch, 22), tensor("next", batch, 1)),
          from("past") | linear("fc1", 64) | relu | linear("fc2", 32) | relu | linear("head", 1) |
              output("forecast"),
          losses(mse("error", "forecast", "next")));

constexpr auto optimizer = adamw(lr(3e-3), weight_decay(0.05));
constexpr auto rate =
    schedule([](auto step) { return linear_warmup(step, 20) * cosine(step, 1400); });
/// Of those who train by phases: forecast_default.hpp and its like.
constexpr auto phases = stages("warmup", "full", "predict", "correct");

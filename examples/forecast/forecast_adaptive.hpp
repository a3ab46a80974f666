// SPDX-License-Identifier: Apache-2.0
// Gradients in 8 bits, or in bf16, of the head and of the other layers by themselves: which, the
// run decides (adapt.cpp).
#include "forecast.hpp"

constexpr auto forecast_adaptive = renamed("forecast_adaptive", forecast);
constexpr auto rules = precision(
    everywhere(store(bf16), compute(bf16)), where(loss)(compute(f32)),
    where(gradients& layer("head") &
          (during("f8") | during("others_bf16")))(store(f8e4m3, saturate)),
    where(gradients& layer("fc*") & (during("f8") | during("head_bf16")))(store(f8e4m3, saturate)));

HALFTONE_MODEL(forecast_adaptive, rules, optimizer, rate, clip(1.0),
               stages("f8", "head_bf16", "others_bf16", "bf16"))

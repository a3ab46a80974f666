// SPDX-License-Identifier: Apache-2.0
// bf16 with f32 masters; its range needs no loss scale.
#include "forecast.hpp"

constexpr auto forecast_bf16 = renamed("forecast_bf16", forecast);
constexpr auto rules = precision(everywhere(store(bf16), compute(bf16)), where(loss)(compute(f32)));

HALFTONE_MODEL(forecast_bf16, rules, optimizer, rate, clip(1.0))

// SPDX-License-Identifier: Apache-2.0
// f32 throughout.
#include "forecast.hpp"

constexpr auto forecast_f32 = renamed("forecast_f32", forecast);
constexpr auto rules = precision(everywhere(store(f32), compute(f32)));

HALFTONE_MODEL(forecast_f32, rules, optimizer, rate, clip(1.0))

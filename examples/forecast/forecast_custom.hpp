// SPDX-License-Identifier: Apache-2.0
// Four phases with formats of one's own: f16 in two of them, which have a loss scale.
#include "forecast.hpp"

constexpr auto forecast_custom = renamed("forecast_custom", forecast);

HALFTONE_MODEL(forecast_custom, presets::phases_custom(f32, f16, f16, f32), optimizer, rate,
               clip(1.0), phases)

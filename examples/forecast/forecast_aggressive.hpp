// SPDX-License-Identifier: Apache-2.0
// Four phases under the preset "aggressive".
#include "forecast.hpp"

constexpr auto forecast_aggressive = renamed("forecast_aggressive", forecast);

HALFTONE_MODEL(forecast_aggressive, presets::phases_aggressive(), optimizer, rate, clip(1.0), phases)

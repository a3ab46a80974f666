// SPDX-License-Identifier: Apache-2.0
// Four phases under the preset "conservative".
#include "forecast.hpp"

constexpr auto forecast_conservative = renamed("forecast_conservative", forecast);

HALFTONE_MODEL(forecast_conservative, presets::phases_conservative(), optimizer, rate, clip(1.0), phases)

// SPDX-License-Identifier: Apache-2.0
// Four phases under the preset "default".
#include "forecast.hpp"

constexpr auto forecast_default = renamed("forecast_default", forecast);

HALFTONE_MODEL(forecast_default, presets::phases_default(), optimizer, rate, clip(1.0), phases)

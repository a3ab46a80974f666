// SPDX-License-Identifier: Apache-2.0
// f16 with f32 masters, and a loss scale from 65536, twice that after 2000 good steps, half of it
// after an overflow, between 1 and 262144.
#include "forecast.hpp"

constexpr auto forecast_f16 = renamed("forecast_f16", forecast);
constexpr auto rules =
    precision(everywhere(store(f16), compute(f16),
                         dynamic_loss_scale(initial(65536), growth(2), backoff(0.5), interval(2000),
                                            floor_at(1), ceiling_at(262144))),
              where(loss)(compute(f32)));

HALFTONE_MODEL(forecast_f16, rules, optimizer, rate, clip(1.0))

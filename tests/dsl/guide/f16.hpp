// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto f16_rules = precision(everywhere(store(f16), compute(f16), dynamic_loss_scale()),
                                     where(normalization | softmax | loss)(compute(f32)));

constexpr auto digits_f16 = renamed("digits_f16", digits);
HALFTONE_MODEL(digits_f16, f16_rules, adamw(lr(3e-3)))

constexpr auto careful_scale =
    everywhere(dynamic_loss_scale(initial(1024), growth(2), backoff(0.5), interval(200),
                                  floor_at(1), ceiling_at(65536), hysteresis(2), patience(20)));

constexpr auto digits_careful = renamed("digits_careful", digits);
HALFTONE_MODEL(digits_careful, precision(everywhere(store(f16), compute(f16)), careful_scale),
               adamw(lr(3e-3)))

constexpr auto digits_fixed = renamed("digits_fixed", digits);
HALFTONE_MODEL(digits_fixed, precision(everywhere(store(f16), compute(f16), fixed_loss_scale(128))),
               adamw())

// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

constexpr auto scaled_rules =
    precision(presets::fp8_current(), where(layer("head"))(store(f32), compute(bf16)));

constexpr auto digits_scaled = renamed("digits_scaled", digits);
HALFTONE_MODEL(digits_scaled, scaled_rules, adamw(lr(3e-3)))

constexpr auto block_rules =
    precision(everywhere(store(bf16)), where(contraction)(compute(scaled(f8e4m3, block(32)))),
              where(contraction& gradients)(compute(scaled(f8e5m2, block(32)))));

constexpr auto digits_blocks = renamed("digits_blocks", digits);
HALFTONE_MODEL(digits_blocks, block_rules, adamw(lr(3e-3)))

constexpr auto column_rules =
    precision(everywhere(store(bf16)), where(contraction)(compute(scaled(f8e4m3, block(32)))),
              where(contraction& weight_gradient_pass)(compute(scaled(f8e4m3, block(32, 1)))));

constexpr auto digits_columns = renamed("digits_columns", digits);
HALFTONE_MODEL(digits_columns, column_rules, adamw(lr(3e-3)))

constexpr auto delayed_rules =
    precision(everywhere(store(bf16)), where(contraction)(compute(scaled(f8e4m3, delayed(16)))),
              where(contraction& gradients)(compute(scaled(f8e5m2, delayed(16, 1)))));

constexpr auto factor_rules =
    precision(everywhere(store(bf16)), where(op("linear"))(compute(scaled(f8e4m3, f32))),
              where(op("linear") & gradients)(compute(scaled(f8e5m2, delayed(16), f32))));

constexpr auto rotated_rules = precision(everywhere(store(bf16), compute(bf16)),
                                         where(op("linear") & weight_gradient_pass)(compute(
                                             rotated(scaled(f4e2m1, block(16, 1), f8e4m3, f32)))));

// SPDX-License-Identifier: Apache-2.0
// f16 values and operands, with a loss scale.
#include "diffusion.hpp"

constexpr auto diffusion_f16 = renamed("diffusion_f16", diffusion);
constexpr auto rules = precision(in_16_bits(f16), everywhere(f16_scale));

HALFTONE_MODEL(diffusion_f16, rules, optimizer, rate, clip(1.0), average(0.995))

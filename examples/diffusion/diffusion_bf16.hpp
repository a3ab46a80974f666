// SPDX-License-Identifier: Apache-2.0
// bf16 values and operands.
#include "diffusion.hpp"

constexpr auto diffusion_bf16 = renamed("diffusion_bf16", diffusion);
constexpr auto rules = in_16_bits(bf16);

HALFTONE_MODEL(diffusion_bf16, rules, optimizer, rate, clip(1.0), average(0.995))

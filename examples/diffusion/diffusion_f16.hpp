// SPDX-License-Identifier: Apache-2.0
// f16 values and operands, with a loss scale; bf16 in a stage of its own, in which a run goes on
// where f16 fails.
#include "diffusion.hpp"

constexpr auto diffusion_f16 = renamed("diffusion_f16", diffusion);
constexpr auto rules =
    precision(in_16_bits(f16, "f16"), in_16_bits(bf16, "bf16"), where(during("f16"))(f16_scale));

HALFTONE_MODEL(diffusion_f16, rules, optimizer, rate, clip(1.0), average(0.995),
               stages("f16", "bf16"))

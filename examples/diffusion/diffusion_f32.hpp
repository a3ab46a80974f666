// SPDX-License-Identifier: Apache-2.0
// f32 throughout.
#include "diffusion.hpp"

constexpr auto diffusion_f32 = renamed("diffusion_f32", diffusion);
constexpr auto rules = precision(everywhere(store(f32), compute(f32)));

HALFTONE_MODEL(diffusion_f32, rules, optimizer, rate, clip(1.0), average(0.995))

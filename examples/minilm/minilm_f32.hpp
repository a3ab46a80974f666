// SPDX-License-Identifier: Apache-2.0
// The model as it was trained.
#include "minilm.hpp"

constexpr auto minilm_f32 = renamed("minilm_f32", minilm);
HALFTONE_MODEL(minilm_f32, minilm_rules(f32))

// SPDX-License-Identifier: Apache-2.0
// The model in bf16.
#include "minilm.hpp"

constexpr auto minilm_bf16 = renamed("minilm_bf16", minilm);
HALFTONE_MODEL(minilm_bf16, minilm_rules(bf16))

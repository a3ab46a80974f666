// SPDX-License-Identifier: Apache-2.0
// The model in f16.
#include "minilm.hpp"

constexpr auto minilm_f16 = renamed("minilm_f16", minilm);
HALFTONE_MODEL(minilm_f16, minilm_rules(f16))

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace halftone::tests {

#if !defined(HALFTONE_TESTED_VARIANT)
#define HALFTONE_TESTED_VARIANT "x86-64-v3"  // what has AVX2
#endif

/// The variant of the code whose sums and vectors are looked at, unless main() was told another.
inline std::string tested_variant = HALFTONE_TESTED_VARIANT;

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
// The variants of CPU code that laws are held to.
#pragma once

#include <string>
#include <vector>

namespace halftone::tests {

/// What all processors of this architecture run.
#if defined(__aarch64__)
inline const std::string baseline_variant = "aarch64";
#else
inline const std::string baseline_variant = "x86-64";
#endif

/// The variant of the code whose sums and vectors are looked at: NEON's or what has AVX2, unless
/// main() was told another.
#if defined(HALFTONE_TESTED_VARIANT)
inline std::string tested_variant = HALFTONE_TESTED_VARIANT;
#elif defined(__aarch64__)
inline std::string tested_variant = baseline_variant;
#else
inline std::string tested_variant = "x86-64-v3";
#endif

/// Both, or the one that both are.
inline std::vector<std::string> tested_variants() {
  if (tested_variant == baseline_variant) return {tested_variant};
  return {tested_variant, baseline_variant};
}

}  // namespace halftone::tests

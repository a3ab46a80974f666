// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace halftone::tests {

/// The variant of the code whose sums and vectors are looked at: what has AVX2, unless main() was
/// told another.
inline std::string tested_variant = "x86-64-v3";

}  // namespace halftone::tests

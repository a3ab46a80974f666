// SPDX-License-Identifier: Apache-2.0
// Arithmetic of sizes: past 2^62 it throws std::overflow_error.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace halftone::manifest {

inline constexpr std::int64_t kLargest = std::int64_t{1} << 62;

inline std::int64_t checked(std::int64_t value, bool overflowed) {
  if (overflowed || value > kLargest) {
    throw std::overflow_error("a size exceeds 2^62");
  }
  return value;
}

inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool overflowed = __builtin_mul_overflow(a, b, &result);
  return checked(result, overflowed);
}

inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool overflowed = __builtin_add_overflow(a, b, &result);
  return checked(result, overflowed);
}

}  // namespace halftone::manifest

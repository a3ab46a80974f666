// SPDX-License-Identifier: Apache-2.0
// The floating-point mode that the numerics contract assumes: round to nearest, subnormals kept, no
// traps.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace halftone {

/// Sets the mode for this thread while it lives, and puts the former one back.
class StandardFloatingPoint {
 public:
#if defined(__x86_64__)
  StandardFloatingPoint() noexcept : former_(_mm_getcsr()) { _mm_setcsr(kStandard); }
  ~StandardFloatingPoint() { _mm_setcsr(former_); }
#elif defined(__aarch64__)
  StandardFloatingPoint() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(former_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}) : "memory");
  }
  ~StandardFloatingPoint() { asm volatile("msr fpcr, %0" : : "r"(former_) : "memory"); }
#endif
  StandardFloatingPoint(const StandardFloatingPoint&) = delete;
  StandardFloatingPoint& operator=(const StandardFloatingPoint&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr std::uint32_t kStandard =
      0x1f80;  // MXCSR after reset: all exceptions masked, nearest, no FTZ or DAZ
  std::uint32_t former_;
#elif defined(__aarch64__)
  std::uint64_t former_;
#endif
};

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The floating-point mode that the simulator computes in, whatever its caller's is: round to
// nearest, subnormals kept, no traps.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace halftone::simulator {

/// Sets the mode for this thread and those that it starts while it lives (POSIX: pthread_create),
/// and puts the former one back, with its exception flags.
class OwnFloatingPoint {
 public:
  OwnFloatingPoint() noexcept {
    std::fegetenv(&former_);
    std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
    _mm_setcsr(kAfterReset);  // fenv.h knows neither DAZ and FTZ nor the trap of subnormal operands
#endif
  }
  ~OwnFloatingPoint() { std::fesetenv(&former_); }
  OwnFloatingPoint(const OwnFloatingPoint&) = delete;
  OwnFloatingPoint& operator=(const OwnFloatingPoint&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kAfterReset = 0x1f80;
#endif
  std::fenv_t former_;
};

}  // namespace halftone::simulator

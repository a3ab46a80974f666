// SPDX-License-Identifier: Apache-2.0
// Faults of the host, one at a time: while they are armed, the n-th allocation, start of a thread
// or call of the system that the program asks for fails. allocations.cpp and system_calls.cpp
// define those functions in the test program itself, so that the runtime and the C++ library call
// them in place of the C library's.
#pragma once

#include <cstdint>

namespace halftone::tests {

enum class Fault {
  allocation,  ///< operator new throws std::bad_alloc, posix_memalign says ENOMEM
  thread,      ///< pthread_create says EAGAIN
  system_call  ///< fails with the errno that arm() was given
};

/// Call number `at`, from 1 on, of this kind fails, whatever thread it comes from; once.
void arm(Fault fault, int at, int failure = 0);

/// Ends that. Whether a call has failed.
bool disarm();

/// The one that failed last: "openat".
[[nodiscard]] const char* failed_call();

/// Pieces that operator new and posix_memalign gave and nobody has given back.
[[nodiscard]] std::int64_t live_allocations();

/// While it lives, no call of this thread fails, nor counts.
class Spared {
 public:
  Spared();
  ~Spared();
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;

 private:
  bool before_;
};

/// What the functions themselves ask: whether this call is the one.
[[nodiscard]] bool fails_now(Fault fault, const char* call);
[[nodiscard]] int failure_now();

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
// Work that may be given up: kernels that are compiled for somebody who is gone meanwhile.
#pragma once

#include <stop_token>
#include <utility>

namespace halftone {

/// Until it goes, what this thread compiles may be given up once `stop` says so.
class MayStop {
 public:
  explicit MayStop(std::stop_token stop) : before_(std::exchange(of_thread_, std::move(stop))) {}
  ~MayStop() { of_thread_ = std::move(before_); }
  MayStop(const MayStop&) = delete;
  MayStop& operator=(const MayStop&) = delete;

  /// What this thread goes by; one that never stops when nobody said otherwise.
  [[nodiscard]] static std::stop_token of_thread() { return of_thread_; }

 private:
  static inline thread_local std::stop_token of_thread_{};
  std::stop_token before_;
};

}  // namespace halftone

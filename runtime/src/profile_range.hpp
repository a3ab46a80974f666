// SPDX-License-Identifier: Apache-2.0
// Ranges that profilers show beside kernels: NVTX 3, where one has attached itself (Nsight Systems
// does); otherwise they cost a look at a flag.
#pragma once

namespace halftone {

/// From here to its end this thread is in `halftone NAME`; ranges lie in one another.
class ProfileRange {
 public:
  explicit ProfileRange(const char* name) noexcept;
  ~ProfileRange();
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;

 private:
  bool is_open_ = false;
};

}  // namespace halftone

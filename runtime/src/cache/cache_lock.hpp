// SPDX-License-Identifier: Apache-2.0
// One process compiles a kernel, the others wait for it; but nobody waits for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache_folder.hpp"
#include "../files/open_file.hpp"

namespace halftone {

/// Keeps other processes from compiling the same kernel while it lives. A process that dies lets
/// go; where the lock cannot be had, its owner goes on without.
class CacheLock {
 public:
  enum class State : std::uint8_t {
    held,
    timed_out,
    none,  ///< this folder or system has no locks
  };

  /// Waits for at most `patience`.
  CacheLock(const CacheFolder& folder, std::string_view identity,
            std::chrono::milliseconds patience);
  ~CacheLock();
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

  [[nodiscard]] State state() const noexcept { return state_; }

 private:
  const CacheFolder& folder_;
  std::string name_;
  OpenFile file_;
  State state_ = State::none;
};

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The only way to device memory: counts what a source really handed out, knowing nothing of plans.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "halftone/memory.hpp"

namespace halftone {

/// Gives everything back when it goes.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::shared_ptr<MemorySource> source) : source_(std::move(source)) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Null when the source has none; `bytes` > 0.
  [[nodiscard]] void* allocate(std::int64_t bytes, std::int64_t alignment);

  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

 private:
  struct Piece {
    void* address;
    std::int64_t bytes;
  };

  std::shared_ptr<MemorySource> source_;
  std::vector<Piece> pieces_;
  std::int64_t bytes_ = 0;
};

}  // namespace halftone

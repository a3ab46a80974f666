// SPDX-License-Identifier: Apache-2.0
// Where the CPU's memory comes from. A trainer or predictor takes its whole arena from here, in one
// piece, and what the threads work in inside of contractions in another.
#pragma once

#include <cstdint>
#include <memory>

namespace halftone {

/// A source of device memory; replaceable, for instance by one that runs out. Called from any
/// thread.
class MemorySource {
 public:
  virtual ~MemorySource() = default;

  /// `bytes` > 0 and a multiple of `alignment`, a power of two, of which the address has to be a
  /// multiple. Null when there is no memory; never throws.
  [[nodiscard]] virtual void* allocate(std::int64_t bytes, std::int64_t alignment) noexcept = 0;

  /// Takes back what allocate(bytes, ...) returned.
  virtual void release(void* address, std::int64_t bytes) noexcept = 0;
};

/// The host's own memory.
[[nodiscard]] std::shared_ptr<MemorySource> host_memory();

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>

#include "huge_pages.hpp"

namespace halftone {
namespace {

class HostMemory final : public MemorySource {
 public:
  /// What fills huge pages asks for them: processors fetch ahead within a page alone and look up
  /// fewer. A loop that only reads got up to a fifth faster; emitted kernels as good as nothing.
  void* allocate(std::int64_t bytes, std::int64_t alignment) noexcept override {
    const std::int64_t whole = bytes / kHugePage * kHugePage;
    if (whole > 0) alignment = std::max(alignment, kHugePage);
    void* address = nullptr;
    if (posix_memalign(&address, static_cast<std::size_t>(alignment),
                       static_cast<std::size_t>(bytes)) != 0)
      return nullptr;
    ask_for_huge_pages(address, static_cast<std::size_t>(whole));
    return address;
  }

  void release(void* address, std::int64_t) noexcept override { std::free(address); }
};

}  // namespace

std::shared_ptr<MemorySource> host_memory() {
  static const auto memory = std::make_shared<HostMemory>();
  return memory;
}

DeviceMemory::~DeviceMemory() {
  for (const Piece& piece : pieces_) source_->release(piece.address, piece.bytes);
}

void* DeviceMemory::allocate(std::int64_t bytes, std::int64_t alignment) {
  pieces_.reserve(pieces_.size() + 1);
  void* address = source_->allocate(bytes, alignment);
  if (!address) return nullptr;
  pieces_.push_back({address, bytes});
  bytes_ += bytes;
  return address;
}

}  // namespace halftone

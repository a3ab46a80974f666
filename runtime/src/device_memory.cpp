// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include <cstdlib>

namespace halftone {
namespace {

class HostMemory final : public MemorySource {
 public:
  void* allocate(std::int64_t bytes, std::int64_t alignment) noexcept override {
    return std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(bytes));
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

// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "halftone/simulator/error.hpp"

namespace halftone::simulator {

namespace {

/// Calls visit(byte, mask) for the bytes of a bitmap that bits [first, first + count) lie in.
template <class Visit>
void each_byte(std::uint64_t first, std::uint64_t count, Visit visit) {
  while (count > 0) {
    const std::uint64_t bit = first % 8, take = std::min<std::uint64_t>(count, 8 - bit);
    visit(first / 8, static_cast<std::uint8_t>(((1u << take) - 1) << bit));
    first += take;
    count -= take;
  }
}

}  // namespace

bool all_set(const std::vector<std::uint8_t>& bits, std::uint64_t first, std::uint64_t count) {
  bool all = true;
  each_byte(first, count, [&](std::uint64_t byte, std::uint8_t mask) {
    all = all && (bits[byte] & mask) == mask;
  });
  return all;
}

bool any_set(const std::vector<std::uint8_t>& bits, std::uint64_t first, std::uint64_t count) {
  bool any = false;
  each_byte(first, count,
            [&](std::uint64_t byte, std::uint8_t mask) { any = any || (bits[byte] & mask) != 0; });
  return any;
}

void set_bits(std::vector<std::uint8_t>& bits, std::uint64_t first, std::uint64_t count,
              bool value) {
  each_byte(first, count, [&](std::uint64_t byte, std::uint8_t mask) {
    bits[byte] = static_cast<std::uint8_t>(value ? bits[byte] | mask : bits[byte] & ~mask);
  });
}

std::uint64_t Memory::allocate(std::uint64_t bytes, std::string_view name) {
  if (bytes >= std::uint64_t{1} << kWindowBits)
    throw Error("buffer '" + std::string(name) + "' of " + std::to_string(bytes) +
                " bytes is larger than a simulated device's 64 GiB");
  auto buffer = std::make_unique<Buffer>();
  buffer->name = name;
  buffer->bytes = bytes;
  buffer->address = (buffers_.size() + 1) << kWindowBits;
  try {
    buffer->data = std::make_unique_for_overwrite<std::byte[]>(bytes);
    buffer->set.assign((bytes + 7) / 8, 0);
  } catch (const std::bad_alloc&) {
    throw Error("buffer '" + buffer->name + "' of " + std::to_string(bytes) +
                " bytes is larger than what memory this machine has left; make it smaller");
  }
  std::memset(buffer->data.get(), 0xff, bytes);
  buffers_.push_back(std::move(buffer));
  return buffers_.back()->address;
}

void Memory::free(std::uint64_t address) {
  Buffer* buffer = find(address);
  if (!buffer || buffer->address != address || !buffer->live)
    throw Error("free of address " + std::to_string(address) + ", which is no buffer's");
  buffer->live = false;
  buffer->data.reset();
  buffer->set = {};
}

void Memory::trust_everything() {
  for (const auto& buffer : buffers_) buffer->trusted = true;
}

void Memory::mark(std::uint64_t address, std::uint64_t bytes, bool written) {
  Buffer* buffer = find(address);
  if (bytes == 0 || (buffer->trusted && written)) return;
  if (buffer->trusted) {
    buffer->trusted = false;
    std::ranges::fill(buffer->set, std::uint8_t{0xff});
  }
  set_bits(buffer->set, address - buffer->address, bytes, written);
}

std::byte* Memory::range(std::uint64_t address, std::uint64_t bytes, const char* what) {
  Buffer* buffer = find(address);
  if (!buffer || !buffer->live)
    throw Error(std::string(what) + ": address " + std::to_string(address) + " lies in no buffer");
  const std::uint64_t offset = address - buffer->address;
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    throw Error(std::string(what) + ": bytes " + std::to_string(offset) + " to " +
                std::to_string(offset + bytes) + " pass the end of buffer '" + buffer->name +
                "' of " + std::to_string(buffer->bytes));
  return buffer->data.get() + offset;
}

}  // namespace halftone::simulator

// SPDX-License-Identifier: Apache-2.0
// Device memory: buffers, each alone in 2^36 bytes of address space, with a bit per byte that says
// whether anything wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::simulator {

inline constexpr std::uint64_t kWindowBits = 36;
/// Where generic addresses see shared and local memory and the parameters of the kernel.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 60;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kParameterWindow = std::uint64_t{1} << 62;

struct Buffer {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
  bool live = true;
  bool read_only = false;  ///< constant memory
  std::unique_ptr<std::byte[]> data;
  std::vector<std::uint8_t> set;  ///< a bit per byte: written
  bool trusted = false;           ///< all counts as written: work that kept no account touched it
};

/// Bits [first, first + count) of a bitmap.
[[nodiscard]] bool all_set(const std::vector<std::uint8_t>& bits, std::uint64_t first,
                           std::uint64_t count);
[[nodiscard]] bool any_set(const std::vector<std::uint8_t>& bits, std::uint64_t first,
                           std::uint64_t count);
void set_bits(std::vector<std::uint8_t>& bits, std::uint64_t first, std::uint64_t count,
              bool value);

class Memory {
 public:
  std::uint64_t allocate(std::uint64_t bytes, std::string_view name);
  void free(std::uint64_t address);

  /// The buffer whose window an address lies in, dead ones too; null where none was.
  [[nodiscard]] Buffer* find(std::uint64_t address) {
    const std::uint64_t window = address >> kWindowBits;
    return window == 0 || window > buffers_.size() ? nullptr : buffers_[window - 1].get();
  }

  /// After a launch that kept no account of what it wrote.
  void trust_everything();
  /// Notes that [address, address + bytes) was written, or forgotten.
  void mark(std::uint64_t address, std::uint64_t bytes, bool written);

  /// Throws Error when [address, address + bytes) does not lie in one live buffer.
  [[nodiscard]] std::byte* range(std::uint64_t address, std::uint64_t bytes, const char* what);

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace halftone::simulator

// SPDX-License-Identifier: Apache-2.0
// Where a seal has its fields, and where an object ends that has none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/seal.hpp"

namespace halftone::manifest {

inline constexpr std::array<char, 8> kSealMagic = {'H', 'T', 'S', 'E', 'A', 'L', '\r', '\n'};
inline constexpr std::size_t kSealVersionAt = 8, kSealReservedAt = 12, kSealLengthAt = 16,
                             kSealChecksumAt = 24;
static_assert(kSealChecksumAt + sizeof(Checksum) == kSealBytes);

inline std::uint64_t integer_at(std::span<const std::byte> bytes, std::size_t at,
                                std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

/// Where an ELF file of 64 bits ends by its own account, the end of its section headers, or 0 for
/// other files.
inline std::uint64_t elf_end(std::span<const std::byte> file) {
  constexpr std::size_t kElfHeaderBytes = 64;
  constexpr unsigned char kElfMagic[] = {0x7f, 'E', 'L', 'F', 2};
  if (file.size() < kElfHeaderBytes || std::memcmp(file.data(), kElfMagic, 5) != 0) return 0;
  const std::uint64_t section_headers_at = integer_at(file, 40, 8);
  return section_headers_at + integer_at(file, 58, 2) * integer_at(file, 60, 2);
}

}  // namespace halftone::manifest

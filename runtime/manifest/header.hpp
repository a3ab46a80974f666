// SPDX-License-Identifier: Apache-2.0
// What precedes a manifest's fields: magic[8], version u32, length u64 of the fields, checksum of
// both.
#pragma once

#include <cstddef>
#include <span>

#include "halftone/manifest/checksum.hpp"

namespace halftone::manifest {

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kLengthAt = 12, kChecksumAt = 20, kHeaderBytes = 36;

/// Of the payload, and through the seed of the header's other fields.
inline Checksum checksum_of_manifest(std::span<const std::byte> bytes) {
  return checksum_of(bytes.subspan(kHeaderBytes), hash_of(bytes.first(kChecksumAt)));
}

}  // namespace halftone::manifest

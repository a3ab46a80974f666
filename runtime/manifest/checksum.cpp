// SPDX-License-Identifier: Apache-2.0
// XXH3-128, the only use of xxHash.
#include "halftone/manifest/checksum.hpp"

#include <cstring>

#define XXH_INLINE_ALL  // nothing to link, and no symbols that could meet a user's own xxHash
#include <xxhash.h>

namespace halftone::manifest {

Checksum checksum_of(std::span<const std::byte> bytes, std::uint64_t seed) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
  Checksum result;
  static_assert(sizeof canonical.digest == sizeof result);
  std::memcpy(result.data(), canonical.digest, sizeof result);
  return result;
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace halftone::manifest

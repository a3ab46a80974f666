// SPDX-License-Identifier: Apache-2.0
// One entry of the kernel cache as bytes: an image, everything that it was made from, and a
// checksum of both. Nothing here touches a file. Layout, little-endian: magic[8], format u32,
// key[32], identity length u64, identity, image length u64, image, XXH3-128[16] of all that
// precedes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// Counts up when the layout below or that of an identity changes.
inline constexpr std::uint32_t kCacheFormat = 1;

/// The largest entry that is written or believed.
inline constexpr std::uint64_t kMostEntryBytes = std::uint64_t{256} << 20;

/// What compiles kernels for one architecture; two that differ in any part may make other images.
struct CompilerIdentity {
  std::string compiler;              ///< with all of its version: "NVRTC 13.0 (build)"
  std::vector<std::string> options;  ///< every one, in order
  std::string output;                ///< "cubin" or "PTX"
  std::string driver;                ///< its version where the driver compiles PTX, else empty
};

/// All that an image depends on.
struct KernelIdentity {
  std::string halftone_version;
  std::string text;          ///< the kernel's source
  std::string name;          ///< of its entry
  std::string architecture;  ///< "sm_90a"
  CompilerIdentity compiler;
};

/// The canonical bytes of an identity: kCacheFormat and every part with its length, so that two
/// identities never share them.
[[nodiscard]] std::string encode_identity(const KernelIdentity& identity);

/// A name for an identity: XXH3-128 of its bytes under two seeds. An entry is known by the whole
/// identity, so two with one key would only displace each other.
using CacheKey = std::array<std::byte, 32>;
[[nodiscard]] CacheKey key_of(std::string_view identity);
[[nodiscard]] std::string hexadecimal(const CacheKey& key);

/// `identity` as encode_identity made it.
[[nodiscard]] std::string encode_entry(std::string_view identity, std::string_view image);

enum class EntryState : std::uint8_t {
  sound,
  no_entry,       ///< too short, or begins like something else
  other_format,   ///< of another kCacheFormat
  damaged,        ///< lengths, checksum or key do not fit the bytes
  other_identity  ///< a whole entry, but of something else
};

/// What the bytes hold; views point into them.
struct DecodedEntry {
  EntryState state = EntryState::no_entry;
  CacheKey key{};
  std::string_view identity, image;  ///< empty unless the entry is sound
};
[[nodiscard]] DecodedEntry decode_entry(std::string_view bytes);

/// The same; an entry that was made from something else is other_identity.
[[nodiscard]] DecodedEntry decode_entry(std::string_view bytes, std::string_view identity);

}  // namespace halftone

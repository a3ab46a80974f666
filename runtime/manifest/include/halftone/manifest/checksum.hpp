// SPDX-License-Identifier: Apache-2.0
// The hashes of the artifact format and of the random streams: XXH3, whose results are fixed for
// ever by its specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace halftone::manifest {

using Checksum = std::array<std::byte, 16>;

/// XXH3-128 in its canonical (big-endian) order of bytes.
[[nodiscard]] Checksum checksum_of(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// XXH3-64 with seed 0.
[[nodiscard]] std::uint64_t hash_of(std::span<const std::byte> bytes);
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

}  // namespace halftone::manifest

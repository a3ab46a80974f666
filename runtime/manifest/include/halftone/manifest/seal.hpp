// SPDX-License-Identifier: Apache-2.0
// The seal of an artifact that is a shared object: a trailer behind the object's own bytes that
// tells a whole, unaltered file of this version from anything else before its code is mapped.
// Layout: magic[8], version u32, reserved u32 (0), length u64 of what precedes the trailer,
// XXH3-128 of everything before the checksum; little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

inline constexpr std::size_t kSealBytes = 40;

/// The trailer for a file that holds `content`.
[[nodiscard]] std::vector<std::byte> seal_of(std::span<const std::byte> content);

/// Appends the trailer to a shared object; one that is sealed already is left as it is. On failure,
/// so for any other file and for one that was cut, or altered since it was sealed, `error` is one
/// sentence.
[[nodiscard]] bool seal_file(const std::string& path, std::string& error);

/// Whether `file`, a whole file's bytes, ends in the seal that belongs to it; otherwise `error`
/// says what is wrong.
[[nodiscard]] bool check_seal(std::span<const std::byte> file, DecodeError& error);

}  // namespace halftone::manifest

// SPDX-License-Identifier: Apache-2.0
// The CUDA texts of an artifact, each stored once: one zstd frame with a checksum, of every text
// behind its length as 64-bit little-endian number.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

/// Deterministic bytes; empty for no texts.
[[nodiscard]] std::vector<std::byte> pack_texts(std::span<const std::string> texts);

/// The texts in their order; no bytes hold no texts. On failure `error` says why and the result is
/// empty.
[[nodiscard]] bool unpack_texts(std::span<const std::byte> packed, std::vector<std::string>& texts,
                                DecodeError& error);

}  // namespace halftone::manifest

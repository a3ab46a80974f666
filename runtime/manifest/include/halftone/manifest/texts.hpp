// SPDX-License-Identifier: Apache-2.0
// The CUDA texts of an artifact, each stored once: one zstd frame with a checksum, of every text
// behind its length as 64-bit little-endian number; and what was compiled of them ahead of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

/// Deterministic bytes; empty for no texts.
[[nodiscard]] std::vector<std::byte> pack_texts(std::span<const std::string> texts);

/// Whether it is a compiler's version and nothing else: "13.0".
[[nodiscard]] bool is_version(std::string_view text);

/// A text compiled when the artifact was made. It lies among the texts, behind all of them, as
/// entry_of() writes it.
struct AheadImage {
  std::int32_t text = 0;     ///< its index
  std::string architecture;  ///< "sm_90a": a cubin; "compute_90": PTX
  std::string compiler;      ///< version of NVRTC: "13.0"
  std::string bytes;

  bool operator==(const AheadImage&) const = default;
};
[[nodiscard]] std::string entry_of(const AheadImage& image);

/// False when it is no such entry.
[[nodiscard]] bool parse_entry(const std::string& entry, AheadImage& image);

/// Takes what lies behind the first `count` texts out of them. False when there are fewer, or when
/// something behind them is no entry of one of them.
[[nodiscard]] bool split_ahead(std::vector<std::string>& texts, std::size_t count,
                               std::vector<AheadImage>& ahead);

/// The texts in their order; no bytes hold no texts. On failure `error` says why and the result is
/// empty.
[[nodiscard]] bool unpack_texts(std::span<const std::byte> packed, std::vector<std::string>& texts,
                                DecodeError& error);

}  // namespace halftone::manifest

// SPDX-License-Identifier: Apache-2.0
// The checksum that a checkpoint carries in its metadata: of its tensors and of the header in which
// the checksum itself is zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../safetensors/snapshot.hpp"

namespace halftone {

/// Keys of the metadata. What has a version is a checkpoint.
inline constexpr const char *kVersionKey = "halftone.checkpoint",
                            *kChecksumKey = "halftone.checksum", *kModelKey = "halftone.model";

/// Zeros, which a header is printed with; set_checksum() puts the checksum in their place.
[[nodiscard]] const std::string& no_checksum();
void set_checksum(Snapshot& snapshot);

/// Whether the checksum that a file claims is its own.
[[nodiscard]] bool is_intact(std::span<const std::byte> file, std::uint64_t tensors_at,
                             std::string_view claimed);

inline constexpr const char *kDamaged =
                                "is damaged, or another program changed it: its checksum is not "
                                "that of its bytes",
                            *kDamagedHint = "take an earlier file";

}  // namespace halftone

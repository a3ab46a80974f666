// SPDX-License-Identifier: Apache-2.0
// Which of an artifact's targets a chip runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

/// "sm_90a": number 90, suffix 'a'.
struct Chip {
  int number = 0;   ///< 10 * major + minor of the compute capability
  char suffix = 0;  ///< 'a' runs on this chip alone, 'f' on later ones of the same major, 0 on all
                    ///< later ones
};

/// Nothing when the text names no chip.
[[nodiscard]] std::optional<Chip> parse_chip(std::string_view name);

/// The index of the target that suits `chip` best: its own with a suffix, its own, the latest
/// before it of its family, the latest before it. Nothing when none suits. A device says "sm_90"
/// whether or not it has the features of sm_90a, which every such chip has.
[[nodiscard]] std::optional<std::size_t> choose_target(std::string_view chip,
                                                       std::span<const std::string> targets);

/// What to compile a target's text for on that chip: the target when it is the chip's own,
/// otherwise the chip.
[[nodiscard]] std::string architecture_for(std::string_view chip, std::string_view target);

}  // namespace halftone

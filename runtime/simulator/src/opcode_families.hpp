// SPDX-License-Identifier: Apache-2.0
// The ledger of what is simulated: every family of opcodes with the modifiers that its decoder
// handles. An opcode that no row describes is refused, so that no modifier is skipped.
#pragma once

#include <span>
#include <string_view>

namespace halftone::simulator {

/// `words`: the words, in order, that make an opcode one of the family; '|' separates alternatives,
/// and '*' ends a word of which only the beginning counts. `modifiers`: what else it may have,
/// anywhere.
struct OpcodeFamily {
  std::string_view words, modifiers;
};

[[nodiscard]] std::span<const OpcodeFamily> opcode_families();

/// The first family that describes an opcode such as "add.rn.f32", or null.
[[nodiscard]] const OpcodeFamily* family_of(std::string_view opcode);

}  // namespace halftone::simulator

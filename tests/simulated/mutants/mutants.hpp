// SPDX-License-Identifier: Apache-2.0
// Faults that a kernel's text can be given by one exact replacement.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halftone::tests {

/// Where the fragment is compiled.
enum class Chips : std::uint8_t { all, sm_75, from_sm_80 };

struct Mutant {
  std::string_view fault;          ///< what the kernel does wrong
  std::string_view model, kernel;  ///< the artifact and the kernel of it that is changed
  std::string_view from, to;       ///< `from` stands in the text; its first place becomes `to`
  Chips chips = Chips::all;
  std::int64_t batch = 37;
};

[[nodiscard]] std::span<const Mutant> tensor_mutants();     ///< tensor_contraction's skeleton
[[nodiscard]] std::span<const Mutant> split_mutants();      ///< its split depth, sums of lhs
[[nodiscard]] std::span<const Mutant> ordered_mutants();    ///< contraction's skeleton
[[nodiscard]] std::span<const Mutant> reduction_mutants();  ///< row, column and flat skeletons
[[nodiscard]] std::span<const Mutant> element_mutants();    ///< loads, stores, formats, bodies

}  // namespace halftone::tests

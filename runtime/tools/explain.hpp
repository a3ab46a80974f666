// SPDX-License-Identifier: Apache-2.0
// `halftone explain`: what rules decided, what is cast, what is fused, and what all of it takes.
// docs/tools.md documents the object; the text says the same, so nothing can be in one alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "size.hpp"
#include "words.hpp"

namespace halftone::tools {

/// The whole explanation of an artifact as one object: programs as they are for the CPU, and how
/// kernels run on all chips; or programs and kernels of one `chip`. Throws std::runtime_error when
/// the artifact was not made for it.
[[nodiscard]] Json explanation_of(std::span<const manifest::Manifest> manifests,
                                  const Binding& binding, const std::string& chip = {});

/// How much of it people are told.
struct Extent {
  enum class Part { summary, decisions, all };
  Part part = Part::decisions;  ///< and what comes before it
  bool diagnosis = false;       ///< with that program and its kernels
};

/// The same for people, in lines of at most 100 columns where names allow.
[[nodiscard]] std::string text_of(const Json& explanation, const Extent& extent = {});

/// Counts, bytes by role and format, and for which chips.
[[nodiscard]] std::string text_of_summary(const Json& explanation, const Extent& extent);

/// Of every layer and parameter the formats and which rule decided, then what else rules decided;
/// once for blocks of a repeat that are equal.
[[nodiscard]] std::string text_of_decisions(const Json& explanation);

/// Of all values and layers that it has, as they are printed; some more than once.
[[nodiscard]] std::vector<std::string> names_of(const Json& explanation);

/// The part of either that is about chips.
[[nodiscard]] Json chips_of(std::span<const manifest::Manifest> manifests, const std::string& chip);
[[nodiscard]] std::string text_of_chips(const Json& chips, const Extent& extent);

/// "sm_80, planned for batch = 256"
[[nodiscard]] std::string title_of(const Json& chip);

/// Whether people are told of this kernel of a chip.
[[nodiscard]] bool is_shown(const Json& kernel, const Extent& extent);

}  // namespace halftone::tools

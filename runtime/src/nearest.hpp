// SPDX-License-Identifier: Apache-2.0
// The word that was probably meant.
#pragma once

#include <span>
#include <string>

namespace halftone {

/// The one of `words` that the fewest letters added, left out, replaced or swapped make of `word`,
/// the first of several; empty where it takes more than a third of its letters, or they have more
/// than 256.
[[nodiscard]] std::string nearest(const std::string& word, std::span<const std::string> words);

}  // namespace halftone

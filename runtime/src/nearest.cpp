// SPDX-License-Identifier: Apache-2.0
#include "nearest.hpp"

#include <algorithm>
#include <cstddef>

#include "edit_distance.hpp"

namespace halftone {

std::string nearest(const std::string& word, std::span<const std::string> words) {
  std::string best;
  std::size_t least = 0;
  constexpr std::size_t kMostLetters = 256;  // the time is that of their square
  for (const std::string& candidate : words) {
    const std::size_t longest = std::max(word.size(), candidate.size());
    const std::size_t shortest = std::min(word.size(), candidate.size());
    if (3 * (longest - shortest) > longest || longest > kMostLetters) continue;
    const std::size_t changes = edit_distance(word, candidate);
    if (3 * changes > longest || (!best.empty() && changes >= least)) continue;
    best = candidate;
    least = changes;
  }
  return best;
}

}  // namespace halftone

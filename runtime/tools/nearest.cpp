// SPDX-License-Identifier: Apache-2.0
#include "nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace halftone::tools {
namespace {

/// Optimal string alignment: no letter is changed twice.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> changes(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        changes[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = changes[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      changes[i][j] = std::min({changes[i - 1][j] + 1, changes[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        changes[i][j] = std::min(changes[i][j], changes[i - 2][j - 2] + 1);
      }
    }
  }
  return changes[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, std::span<const std::string> words) {
  std::string best;
  std::size_t least = 0;
  for (const std::string& candidate : words) {
    const std::size_t longest = std::max(word.size(), candidate.size());
    const std::size_t shortest = std::min(word.size(), candidate.size());
    if (3 * (longest - shortest) > longest) continue;
    const std::size_t changes = distance(word, candidate);
    if (3 * changes > longest || (!best.empty() && changes >= least)) continue;
    best = candidate;
    least = changes;
  }
  return best;
}

}  // namespace halftone::tools

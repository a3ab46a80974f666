// SPDX-License-Identifier: Apache-2.0
// What an execution made for runs of smaller sizes than planned, mostly of fewer rows, by the sizes
// of all symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

namespace halftone {

/// So many are kept: the last batch of an epoch and a few besides.
inline constexpr std::size_t kKeptRows = 8;

/// Those used last stay where they are; the others go, the oldest first.
template <class Made>
class RecentRows {
 public:
  /// Null where none is kept.
  [[nodiscard]] Made* find(const std::vector<std::int64_t>& symbols) {
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->first != symbols) continue;
      kept_.splice(kept_.begin(), kept_, at);
      return &at->second;
    }
    return nullptr;
  }

  /// Takes the place of the oldest, if that `may_go`; otherwise there is one more for a while.
  template <class MayGo>
  Made& add(const std::vector<std::int64_t>& symbols, Made made, const MayGo& may_go) {
    kept_.emplace_front(symbols, std::move(made));
    while (kept_.size() > kKeptRows && may_go(kept_.back().second)) kept_.pop_back();
    return kept_.front().second;
  }

  template <class Action>
  void for_each(const Action& action) {
    for (auto& [symbols, made] : kept_) action(made);
  }

 private:
  std::list<std::pair<std::vector<std::int64_t>, Made>> kept_;  // the latest first
};

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// What an execution made for runs of fewer rows than planned, by their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>

namespace halftone {

/// So many are kept: the last batch of an epoch and a few besides.
inline constexpr std::size_t kKeptRows = 8;

/// Those used last stay where they are; the others go, the oldest first.
template <class Made>
class RecentRows {
 public:
  /// Null where none is kept.
  [[nodiscard]] Made* find(std::int64_t rows) {
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->first != rows) continue;
      kept_.splice(kept_.begin(), kept_, at);
      return &at->second;
    }
    return nullptr;
  }

  /// Takes the place of the oldest, if that `may_go`; otherwise there is one more for a while.
  template <class MayGo>
  Made& add(std::int64_t rows, Made made, const MayGo& may_go) {
    kept_.emplace_front(rows, std::move(made));
    while (kept_.size() > kKeptRows && may_go(kept_.back().second)) kept_.pop_back();
    return kept_.front().second;
  }

  template <class Action>
  void for_each(const Action& action) {
    for (auto& [rows, made] : kept_) action(made);
  }

 private:
  std::list<std::pair<std::int64_t, Made>> kept_;  // the latest first
};

}  // namespace halftone

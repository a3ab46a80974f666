// SPDX-License-Identifier: Apache-2.0
#include "race_shadow.hpp"

namespace halftone::simulator {

std::uint32_t ReadSets::copy(std::uint32_t index) {
  if (index == 0) return 0;
  std::uint32_t to = 0;
  const std::vector<ReadStamp> reads = sets_[index];
  for (const ReadStamp& read : reads) add(to, read, reads.size());
  return to;
}

void ReadSets::drop(std::uint32_t& index) {
  if (index == 0) return;
  sets_[index].clear();
  free_.push_back(index);
  index = 0;
}

void ReadSets::add(std::uint32_t& index, const ReadStamp& read, std::size_t most) {
  if (index == 0) {
    if (free_.empty()) {
      sets_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(sets_.size() - 1));
    }
    index = free_.back();
    free_.pop_back();
  }
  std::vector<ReadStamp>& set = sets_[index];
  if (set.size() >= most) set.erase(set.begin());
  set.push_back(read);
}

Cell* ShadowLines::cells_of(std::uint64_t line, ReadSets& sets) {
  if (split_[line] != 0) return pool_[split_[line] - 1].get();
  const std::uint32_t count = kLine / granule_;
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Cell[]>(count));
    free_.push_back(static_cast<std::uint32_t>(pool_.size()));
  }
  split_[line] = free_.back();
  free_.pop_back();
  Cell* const cells = pool_[split_[line] - 1].get();
  for (std::uint32_t i = 0; i < count; ++i) {
    cells[i] = whole_[line];
    if (i > 0) cells[i].more = sets.copy(whole_[line].more);
  }
  return cells;
}

}  // namespace halftone::simulator

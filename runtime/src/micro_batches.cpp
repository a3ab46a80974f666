// SPDX-License-Identifier: Apache-2.0
#include "micro_batches.hpp"

#include <utility>

namespace halftone {

void EarlierMicroBatches::clear() {
  kept_.clear();
  bytes_ = 0;
  count_ = 0;
}

void EarlierMicroBatches::begin() {
  for (auto& [buffer, bytes] : giving_) bytes.clear();
  beginning_ = 0;
  fits_ = kept_.size() == count_;
  if (!fits_) return;
  if (kept_.capacity() == count_) kept_.reserve(2 * count_ + 1);
  if (given_.size() == count_) given_.emplace_back();
}

void EarlierMicroBatches::give(std::size_t buffer, std::span<const std::byte> bytes) {
  beginning_ += static_cast<std::int64_t>(bytes.size());
  fits_ = fits_ && bytes_ + beginning_ <= most_bytes_;
  if (fits_) giving_[buffer].assign(bytes.begin(), bytes.end());
}

void EarlierMicroBatches::add(const Replay& replay) noexcept {
  ++count_;
  if (!fits_) return;
  bytes_ += beginning_;
  const std::size_t place = kept_.size();
  std::swap(given_[place], giving_);
  kept_.push_back(replay);
  kept_.back().given = &given_[place];
}

}  // namespace halftone

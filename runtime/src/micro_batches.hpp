// SPDX-License-Identifier: Apache-2.0
// What the earlier micro-batches of a step were given, kept by the host until the next step, so
// that a diagnosis finds which of them spoiled the sum (decisions/0016).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "replay.hpp"

namespace halftone {

/// The most that is kept of one step.
inline constexpr std::int64_t kMostKeptBytes = std::int64_t{1} << 28;

class EarlierMicroBatches {
 public:
  explicit EarlierMicroBatches(std::int64_t most_bytes = kMostKeptBytes)
      : most_bytes_(most_bytes) {}

  /// Forgets those of the step before.
  void clear();

  /// A micro-batch begins; what it is given follows, as long as there is room for it. Has the
  /// memory that add() needs.
  void begin();
  void give(std::size_t buffer, std::span<const std::byte> bytes);

  /// Its gradients were added to the sum. Where there was no room, neither it nor those after it
  /// are kept.
  void add(const Replay& replay) noexcept;

  /// Those added since clear(), and the first of them, which are kept.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::span<const Replay> kept() const { return kept_; }

 private:
  std::int64_t most_bytes_;
  std::int64_t bytes_ = 0;      ///< of the kept ones
  std::int64_t beginning_ = 0;  ///< of the one that is being given
  bool fits_ = true;
  std::size_t count_ = 0;
  GivenValues giving_;
  std::deque<GivenValues> given_;  ///< of the kept ones; their memory serves the next step too
  std::vector<Replay> kept_;       ///< which point into given_
};

}  // namespace halftone

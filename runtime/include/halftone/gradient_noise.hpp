// SPDX-License-Identifier: Apache-2.0
// How far the gradients of successive steps agree (P93 of docs/spec/precision.md): where they are
// mostly noise of their batches, errors of roundings hide in it; where they are not, they show.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/trainer.hpp"

namespace halftone {

/// An estimate of tr(S) / (tr(S) + |G|^2), where a step's gradient has the mean G and the
/// covariance S (McCandlish et al., 2018, "An Empirical Model of Large-Batch Training", eq. 2.8, of
/// whose noise scale in batches, tr(S) / |G|^2, it is n / (1 + n)): of K steps with gradients g, K
/// / (K - 1) * (1 - |mean of g|^2 / mean of |g|^2). Parameters are taken as if they stood still
/// meanwhile. The squares are those of 256 sums, into which every element goes with a sign, both by
/// a hash of its place (a count sketch; Charikar, Chen and Farach-Colton, 2002), so that what a run
/// keeps of its steps is small; that moves the squares by a ninth, and the share less.
class GradientNoise {
 public:
  /// Of parameters whose names, or layers, fit a glob, as rules name them (P5).
  explicit GradientNoise(std::string layers = "**") : layers_(std::move(layers)) {}

  /// After a step; one that was skipped does not count. Waits for a GPU, and copies its gradients.
  /// Throws Error where no trained parameter is of the layers.
  void add(const Trainer& trainer);
  void clear();

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// From 0, where all gradients are equal, to 1; nothing with less than two steps, or where all of
  /// them are 0.
  [[nodiscard]] std::optional<double> share() const;

  /// Words for a checkpoint's notes, and back; restore() is false, and changes nothing, where they
  /// are none that state() gave.
  [[nodiscard]] std::string state() const;
  [[nodiscard]] bool restore(std::string_view state);

 private:
  static constexpr std::size_t kSums = 256;
  std::string layers_;
  std::vector<std::string> all_;  ///< trained parameters
  std::array<double, kSums> sums_{};
  double squares_ = 0.0;  ///< of the sums of every step
  std::int64_t steps_ = 0;
};

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// How well classes and bases are told.
#pragma once

#include <cstdint>
#include <halftone/loader.hpp>
#include <halftone/predictor.hpp>
#include <vector>

/// How often a label was taken for a class.
class Confusion {
 public:
  explicit Confusion(std::size_t classes) : classes_(classes), counts_(classes * classes) {}

  void add(std::size_t label, std::size_t guess) { ++counts_[label * classes_ + guess]; }

  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] std::int64_t labels_of(std::size_t of) const;
  /// The share of labels that were taken for what they are.
  [[nodiscard]] double accuracy() const;
  /// That of the class that would be right most often if it were always said.
  [[nodiscard]] double majority() const;
  /// Harmonic mean of precision and recall; 0 where a class is never right.
  [[nodiscard]] double f1(std::size_t of) const;
  /// Mean over classes that occur.
  [[nodiscard]] double mean_f1() const;

 private:
  [[nodiscard]] std::int64_t at(std::size_t label, std::size_t guess) const {
    return counts_[label * classes_ + guess];
  }

  std::size_t classes_;
  std::vector<std::int64_t> counts_;
};

/// Of every label of a loader's rows that is one of the classes: the class of the largest logit.
[[nodiscard]] Confusion confusion(halftone::Predictor& predictor, halftone::Loader& rows,
                                  std::size_t classes);

/// Of the labels of a loader's rows, which are bases, the mean of -log2 of each one's probability
/// among the four bases.
[[nodiscard]] double bits_per_base(halftone::Predictor& predictor, halftone::Loader& rows);

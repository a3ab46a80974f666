// SPDX-License-Identifier: Apache-2.0
// When a metric no longer gets better: for stopping early, or for a smaller learning rate.
//
//   Plateau plateau({.patience = 5});
//   if (plateau.update(validation_error)) break;
#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace halftone {

struct PlateauOptions {
  int patience = 10;              ///< updates in a row without progress that are borne
  double least_progress = 0.0;    ///< smaller changes are none
  bool higher_is_better = false;  ///< an accuracy, say
};

/// As torch's ReduceLROnPlateau counts, with its threshold_mode "abs".
class Plateau {
 public:
  /// Throws Error on a negative patience, or a least progress that is negative or not finite.
  explicit Plateau(const PlateauOptions& options = {});

  /// The metric's next value; NaN is no progress. True when it is the first value after more than
  /// `patience` without progress; counting then begins anew.
  bool update(double value);

  [[nodiscard]] bool is_best() const { return is_best_; }  ///< the last value
  /// Infinite before there was a value.
  [[nodiscard]] double best() const { return best_; }

  /// A line of text for SaveOptions::notes, and back. restore() throws Error, and changes nothing,
  /// where it is none.
  [[nodiscard]] std::string state() const;
  void restore(std::string_view state);

 private:
  PlateauOptions options_;
  double best_ = std::numeric_limits<double>::infinity();
  int waited_ = 0;
  bool is_best_ = false;
};

}  // namespace halftone

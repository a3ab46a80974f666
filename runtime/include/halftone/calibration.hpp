// SPDX-License-Identifier: Apache-2.0
// How much each weight of a model counts, by what products multiply it by on data: what predictors
// seek the scales of quantized weights by (P103, P104).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

class Trainer;

/// Sums of squares over the batches that were added. A value, to be copied and kept; a predictor
/// keeps one of its own.
///   halftone::Calibration calibration;
///   for (int i = 0; i < 16; ++i) {
///     trainer.forward(loader.next()->inputs);
///     calibration.add(trainer);
///   }
///   predictor.calibrate(calibration);
///   predictor.copy_parameters(trainer);
class Calibration {
 public:
  /// Runs forward what the trainer ran last once more, as Trainer::inspect does, and adds the
  /// squares of all numbers that products of one weight multiply it by. Costs a forward pass and
  /// more memory while it runs, of a convolution about as many as it has taps, and changes no
  /// trainer. Throws Error as Trainer::inspect does, and, having added nothing, where such a number
  /// is not finite or a parameter has another shape than in the runs before.
  void add(const Trainer& trainer);

  /// Those that products read, in alphabetical order.
  [[nodiscard]] std::vector<std::string> parameter_names() const;

  /// Empty where no product read it; valid until the calibration changes.
  [[nodiscard]] std::span<const std::int64_t> parameter_shape(std::string_view parameter) const;

  /// For each element of the parameter, row-major, the sum of the squares of all numbers that it
  /// was multiplied by; empty where no product read it.
  [[nodiscard]] std::vector<double> squares(std::string_view parameter) const;

  bool operator==(const Calibration&) const = default;

 private:
  friend class CalibrationRun;

  /// Of products that read a weight as a matrix alike.
  struct Reading {
    bool sums_rows = false;       ///< whether an element of the sum is one of a line of the matrix
    std::vector<double> squares;  ///< one for each element of a sum

    bool operator==(const Reading&) const = default;
  };
  struct Weight {
    std::vector<std::int64_t> shape;
    std::vector<Reading> readings;

    bool operator==(const Weight&) const = default;
  };
  std::map<std::string, Weight, std::less<>> weights_;
};

}  // namespace halftone

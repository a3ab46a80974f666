// SPDX-License-Identifier: Apache-2.0
// An axis of a chart: its range, linear or logarithmic, and where its ticks are.
#pragma once

#include <vector>

namespace halftone::tools {

class Axis {
 public:
  enum class Kind { linear, logarithmic, binary };  ///< binary: ticks at powers of two

  /// Holds all of [least, greatest], whose ends may be equal; positive unless linear.
  Axis(Kind kind, double least, double greatest);

  /// Logarithmic where the values span a factor of 20, all of them positive.
  [[nodiscard]] static Axis fitting(double least, double greatest);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// 0 at the lower end, 1 at the upper one.
  [[nodiscard]] double part(double value) const;
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  Kind kind_;
  double low_, high_;  ///< of the values, or of their logarithms
};

}  // namespace halftone::tools

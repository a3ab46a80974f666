// SPDX-License-Identifier: Apache-2.0
// A chart over steps, as SVG.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "axis.hpp"
#include "curves.hpp"
#include "run_file.hpp"

namespace halftone::tools {

struct Curve {
  std::string run;  ///< for the words shown under the mouse
  int colour = 0;   ///< of the page's palette, and of its dashes behind the end of that
  std::span<const Point> points;
  std::span<const Point> marks = {};  ///< steps that are marked at the foot
};

struct Chart {
  std::string title;
  std::string unit;                  ///< of the values, beside the vertical axis
  std::int64_t first = 0, last = 0;  ///< steps
  std::vector<Curve> curves;
  bool is_linear = false;   ///< else logarithmic where the values span much
  bool is_binary = false;   ///< powers of two
  bool is_smoothed = true;  ///< noisy values are drawn faintly, behind what is in their middle
  Middle middle = Middle::mean;
  std::string marks = {};  ///< what marks stand for
};

/// A figure with its heading; empty where no curve has a finite point.
[[nodiscard]] std::string drawn(const Chart& chart);

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
#include "axis.hpp"

#include <algorithm>
#include <cmath>

namespace halftone::tools {
namespace {

constexpr double kFactorOfLogarithms = 20;
constexpr int kMostTicks = 6;

/// 1, 2 or 5 times a power of ten, so that a range has at most kMostTicks of them.
double round_step(double range) {
  const double least = range / kMostTicks;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis::Axis(Kind kind, double least, double greatest) : kind_(kind) {
  const auto inner = [&](double value) {
    return kind == Kind::linear   ? value
           : kind == Kind::binary ? std::log2(value)
                                  : std::log10(value);
  };
  low_ = inner(least);
  high_ = inner(greatest);
  // A line near zero is seen beside zero.
  if (kind == Kind::linear && low_ > 0 && low_ < 0.6 * high_) low_ = 0;
  const double range = high_ - low_;
  const double margin = range > 0              ? 0.04 * range
                        : kind == Kind::linear ? std::max(0.1 * std::abs(high_), 1e-12)
                                               : 1.0;
  if (!(kind == Kind::linear && low_ == 0 && range > 0)) low_ -= margin;
  high_ += margin;
}

Axis Axis::fitting(double least, double greatest) {
  const bool is_wide = least > 0 && greatest >= kFactorOfLogarithms * least;
  return {is_wide ? Kind::logarithmic : Kind::linear, least, greatest};
}

double Axis::part(double value) const {
  const double inner = kind_ == Kind::linear   ? value
                       : kind_ == Kind::binary ? std::log2(value)
                                               : std::log10(value);
  return (inner - low_) / (high_ - low_);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> ticks;
  if (kind_ == Kind::linear) {
    const double step = round_step(high_ - low_);
    for (double i = std::ceil(low_ / step); i * step <= high_; ++i) ticks.push_back(i * step);
    return ticks;
  }
  const double every = std::max(1.0, std::ceil((high_ - low_) / kMostTicks));
  const double base = kind_ == Kind::binary ? 2 : 10;
  for (double i = std::ceil(low_ / every) * every; i <= high_; i += every) {
    const bool is_short = kind_ == Kind::logarithmic && high_ - low_ < 2.2;
    if (is_short && ticks.empty()) {  // what is below the first power
      for (const double factor : {0.2, 0.5})
        if (std::log10(factor) + i >= low_) ticks.push_back(factor * std::pow(base, i));
    }
    ticks.push_back(std::pow(base, i));
    if (!is_short) continue;
    for (const double factor : {2.0, 5.0})
      if (std::log10(factor) + i <= high_) ticks.push_back(factor * std::pow(base, i));
  }
  return ticks;
}

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
#include "difference.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace halftone {
namespace {

/// P(-t < T < t) for t = sqrt(degrees) * tan(angle).
double central_probability(double angle, std::size_t degrees) {
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1.0, sum = degrees == 1 ? 0.0 : term;
  for (std::size_t k = is_odd ? 3 : 2; k + 2 <= degrees; k += 2) {
    const auto factor = static_cast<double>(k);
    term *= cosine * cosine * (factor - 1) / factor;
    sum += term;
  }
  return is_odd ? (angle + sine * sum) * 2 / std::numbers::pi : sine * sum;
}

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

}  // namespace

double student_quantile(double probability, std::size_t degrees) {
  double low = 0.0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const bool is_below = (1 + central_probability(middle, degrees)) / 2 < probability;
    (is_below ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan((low + high) / 2);
}

Difference difference_of(std::span<const double> losses, std::span<const double> others,
                         double confidence) {
  Difference result;
  std::vector<double> differences;
  for (std::size_t i = 0; i < losses.size() && i < others.size(); ++i) {
    if (!std::isfinite(others[i])) continue;
    ++result.seeds;
    if (std::isfinite(losses[i]))
      differences.push_back(losses[i] - others[i]);
    else
      ++result.failed;
  }
  result.mean = mean_of(differences);
  double spread = std::numeric_limits<double>::infinity();
  if (const std::size_t count = differences.size(); count >= 2) {
    double squares = 0.0;
    for (const double each : differences) squares += (each - result.mean) * (each - result.mean);
    const auto degrees = static_cast<double>(count - 1);
    const double deviation_of_mean = std::sqrt(squares / degrees / static_cast<double>(count));
    spread = student_quantile(confidence, count - 1) * deviation_of_mean;
  }
  result.low = result.mean - spread;
  result.high = result.mean + spread;
  return result;
}

}  // namespace halftone

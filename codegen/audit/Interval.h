// SPDX-License-Identifier: Apache-2.0
// Real intervals, whose ends are rounded outwards: what an operation gives of numbers of its
// operands' intervals lies in the interval that it gives of these.
#ifndef HALFTONE_AUDIT_INTERVAL_H
#define HALFTONE_AUDIT_INTERVAL_H

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace halftone::audit {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The numbers from low to high; none where low > high.
struct Interval {
  double low = kInfinity, high = -kInfinity;

  static Interval of(double value) { return {value, value}; }
  static Interval all() { return {-kInfinity, kInfinity}; }
  static Interval within(double magnitude) { return {-magnitude, magnitude}; }

  bool isEmpty() const { return low > high; }
  bool isPoint() const { return low == high; }
  bool isFinite() const { return isEmpty() || (std::isfinite(low) && std::isfinite(high)); }
  bool contains(double value) const { return low <= value && value <= high; }
  /// The largest and the least |x|.
  double magnitude() const { return isEmpty() ? 0 : std::max(std::fabs(low), std::fabs(high)); }
  double least() const {
    return isEmpty() ? kInfinity : contains(0) ? 0 : std::min(std::fabs(low), std::fabs(high));
  }

  bool operator==(const Interval &) const = default;
};

/// One step of double outwards at either end; a zero stays, since sums that are zero are exact.
inline Interval outward(double low, double high) {
  return {low == 0 ? low : std::nextafter(low, -kInfinity),
          high == 0 ? high : std::nextafter(high, kInfinity)};
}

inline Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval intersect(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
/// Numbers beyond `magnitude` are that.
inline Interval clamped(Interval a, double magnitude) {
  return a.isEmpty() ? a
                     : Interval{std::clamp(a.low, -magnitude, magnitude),
                                std::clamp(a.high, -magnitude, magnitude)};
}
/// By `margin` wider at either end.
inline Interval widened(Interval a, double margin) {
  return a.isEmpty() || margin == 0 ? a : outward(a.low - margin, a.high + margin);
}
/// The largest distance of a number of a from one of b.
inline double distance(Interval a, Interval b) {
  if (a.isEmpty() || b.isEmpty())
    return 0;
  auto apart = [](double x, double y) { return x == y ? 0 : std::fabs(x - y); };
  return std::max(apart(a.high, b.low), apart(b.high, a.low));
}

inline Interval operator-(Interval a) { return a.isEmpty() ? a : Interval{-a.high, -a.low}; }
inline Interval operator+(Interval a, Interval b) {
  if (a.isEmpty() || b.isEmpty())
    return {};
  double low = a.low + b.low, high = a.high + b.high; // NaN of infinities: anything
  return outward(std::isnan(low) ? -kInfinity : low, std::isnan(high) ? kInfinity : high);
}
inline Interval operator-(Interval a, Interval b) { return a + -b; }

/// 0 * infinity is 0: the limit of products is meant, and a zero is one.
inline double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

inline Interval operator*(Interval a, Interval b) {
  if (a.isEmpty() || b.isEmpty())
    return {};
  auto [low, high] = std::minmax({product(a.low, b.low), product(a.low, b.high),
                                  product(a.high, b.low), product(a.high, b.high)});
  return outward(low, high);
}
/// All numbers where b has a zero inside; where zero is an end of b it is not divided by.
inline Interval operator/(Interval a, Interval b) {
  if (a.isEmpty() || b.isEmpty())
    return {};
  if ((b.low < 0 && b.high > 0) || (b.low == 0 && b.high == 0))
    return Interval::all();
  auto inverse = [](double x, double otherwise) { return x == 0 ? otherwise : 1 / x; };
  return a * outward(inverse(b.high, -kInfinity), inverse(b.low, kInfinity));
}

} // namespace halftone::audit

#endif

// SPDX-License-Identifier: Apache-2.0
// 16-bit floats by search in the list of their values (representable.hpp), for expected results.
#pragma once

#include <algorithm>

#include "representable.hpp"

namespace halftone::tests {

/// A 16-bit format: values of codes, and the nearest code, ties to even.
class Narrow {
 public:
  explicit Narrow(NumberFormat format) {
    for (const Definition& d : kDefinitions)
      if (d.format == format) values_ = finite_values(d);
  }

  [[nodiscard]] double value(std::uint16_t code) const {
    const std::uint32_t magnitude = code & 0x7fffu;
    const double x = magnitude < values_.size()    ? values_[magnitude]
                     : magnitude == values_.size() ? INFINITY
                                                   : NAN;
    return code & 0x8000 ? -x : x;
  }

  /// `beyond`: the sign of what the exact value has more than x.
  [[nodiscard]] std::uint16_t code(__float128 x, bool negative_zero = false, int beyond = 0) const {
    if (x != x) return 0x7fff;
    const bool negative = x < 0 || (x == 0 && negative_zero);
    const __float128 magnitude = x < 0 ? -x : x;
    const auto sign = static_cast<std::uint16_t>(negative ? 0x8000 : 0);
    return static_cast<std::uint16_t>(sign | nearest(magnitude, x < 0 ? -beyond : beyond));
  }

 private:
  [[nodiscard]] std::uint16_t nearest(__float128 x, int beyond) const {
    const std::size_t count = values_.size();
    const double last = values_.back(), step = last - values_[count - 2];
    const __float128 end = static_cast<__float128>(last) + static_cast<__float128>(step) / 2;
    if (x > end || (x == end && beyond >= 0)) return static_cast<std::uint16_t>(count);  // infinity
    const auto above =
        std::upper_bound(values_.begin(), values_.end(), x,
                         [](__float128 a, double b) { return a < static_cast<__float128>(b); });
    const auto low = static_cast<std::size_t>(above - values_.begin()) - 1;
    if (low + 1 == count) return static_cast<std::uint16_t>(low);
    const __float128 down = x - static_cast<__float128>(values_[low]),
                     up = static_cast<__float128>(values_[low + 1]) - x;
    const bool takes_upper =
        up < down || (up == down && (beyond > 0 || (beyond == 0 && low % 2 == 1)));
    return static_cast<std::uint16_t>(low + (takes_upper ? 1 : 0));
  }

  std::vector<double> values_;
};

}  // namespace halftone::tests

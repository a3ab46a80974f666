// SPDX-License-Identifier: Apache-2.0
// Spectra of real sequences by products of matrices: Z7 to Z10 of docs/spec/math.md, a sequence at
// a time.
#pragma once

#include <cmath>
#include <numeric>

#include "layer.hpp"
#include "transforms.hpp"

namespace halftone::reference {

// Z7: of a power of two from 2 on.
inline std::vector<std::int64_t> transform_sides(std::int64_t places) {
  int stages = 0;
  while (std::int64_t{1} << stages < places) ++stages;
  std::vector<std::int64_t> sides;
  for (int left = (stages + 6) / 7; left > 0; --left) {
    const int longest = (stages + left - 1) / left;
    sides.push_back(std::int64_t{1} << longest);
    stages -= longest;
  }
  return sides;
}

// Z7: the point at q of 2^22 units of a turn.
template <class Scalar>
Complex<Scalar> point_of_turn(std::int64_t q) {
  constexpr std::int64_t half = 1 << 21;
  if (q <= half) return point_of_half_turn<Scalar>(q);
  const Complex<Scalar> above = point_of_half_turn<Scalar>(2 * half - q);
  return {above.real, -above.imaginary};
}

template <class Scalar>
class MatrixTransforms {
 public:
  /// `to`: what products' operands are rounded to, not f32.
  MatrixTransforms(RoundTo to, std::int64_t places)
      : to_(to), places_(places), sides_(transform_sides(places)) {
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const std::int64_t n = sides_[s], behind = places_behind(s);
      Spectrum<Scalar> matrix, factors;
      for (std::int64_t t = 0; t < n; ++t) {
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t q = s == 0 ? (4 * k + 1) * t * (kTurn / (4 * n)) : k * t * (kTurn / n);
          const Complex<Scalar> point = point_of_turn<Scalar>(q % kTurn);
          matrix.push_back({rounded(point.real), rounded(point.imaginary)});
        }
      }
      const Scalar scale = power(-half_of(n));
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t r = 0; r < behind; ++r) {
          const std::int64_t q = s == 0 ? (4 * k + 1) * r * (kTurn / (4 * n * behind))
                                        : k * r * (kTurn / (n * behind));
          const Complex<Scalar> point = point_of_turn<Scalar>(q);
          factors.push_back({point.real * scale, point.imaginary * scale});
        }
      }
      matrices_.push_back(matrix), factors_.push_back(factors);
      if (s + 1 < sides_.size()) of_factors_ += half_of(n);
    }
  }

  // Z8. value(t) are the first `length` places of the sequence.
  template <class Value>
  Spectrum<Scalar> transformed(std::int64_t length, Value value) const {
    Spectrum<Scalar> z(places_);
    for (std::int64_t t = 0; t < length; ++t) z[t].real = rounded(value(t));
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const std::int64_t n = sides_[s], behind = places_behind(s);
      each_column(
          s, z,
          [&](std::int64_t r, const Spectrum<Scalar>& column, std::int64_t k,
              std::int64_t /*group*/) {
            const auto cosine = [&](std::int64_t t) { return matrices_[s][t * n + k].real; };
            const auto sine = [&](std::int64_t t) { return matrices_[s][t * n + k].imaginary; };
            const Complex<Scalar> sum =
                s == 0 ? Complex<Scalar>{real_chain(column, cosine), real_chain(column, sine)}
                       : Complex<Scalar>{
                             chain(column, cosine, [&](std::int64_t t) { return -sine(t); }),
                             chain(column, sine, cosine)};
            if (s + 1 == sides_.size()) return sum;
            return times(sum, factors_[s][k * behind + r]);
          });
    }
    return z;
  }

  // Z10: the first `length` places of what has the product as its spectrum.
  std::vector<Scalar> transformed_back(std::int64_t length, Spectrum<Scalar> z) const {
    const int last = half_of(sides_.back());
    const Scalar scale = power(of_factors_ - last);
    for (Complex<Scalar>& place : z)
      place = {rounded(place.real * scale), rounded(place.imaginary * scale)};
    for (std::size_t s = sides_.size(); s-- > 0;) {
      const std::int64_t n = sides_[s], behind = places_behind(s);
      each_column(
          s, z,
          [&](std::int64_t r, const Spectrum<Scalar>& column, std::int64_t t, std::int64_t group) {
            const auto cosine = [&](std::int64_t k) { return matrices_[s][t * n + k].real; };
            const auto sine = [&](std::int64_t k) { return matrices_[s][t * n + k].imaginary; };
            if (s == 0) return Complex<Scalar>{chain(column, cosine, sine), Scalar(0)};
            const Complex<Scalar> sum{
                chain(column, cosine, sine),
                chain(
                    column, [&](std::int64_t k) { return -sine(k); }, cosine)};
            const std::int64_t before = group % sides_[s - 1];
            const Complex<Scalar> factor = factors_[s - 1][(before * n + t) * behind + r];
            return times(sum, {factor.real, -factor.imaginary});
          });
    }
    std::vector<Scalar> sequence(length);
    const Scalar rest = power(2 * of_factors_ + last - log2_of(places_));
    for (std::int64_t t = 0; t < length; ++t) sequence[t] = z[t].real * rest;
    return sequence;
  }

 private:
  static constexpr std::int64_t kTurn = 1 << 22;

  static int log2_of(std::int64_t power) {
    return std::countr_zero(static_cast<std::uint64_t>(power));
  }
  static int half_of(std::int64_t side) { return log2_of(side) / 2; }
  static Scalar power(int exponent) { return static_cast<Scalar>(std::ldexp(1.0, exponent)); }

  [[nodiscard]] Scalar rounded(Scalar value) const { return round(to_, value); }

  [[nodiscard]] std::int64_t places_behind(std::size_t s) const {
    return std::accumulate(sides_.begin() + static_cast<std::ptrdiff_t>(s) + 1, sides_.end(),
                           std::int64_t{1}, std::multiplies<>());
  }

  // Puts sum(r, column, k, group) in place k of the column that lies at r of each group of side s.
  template <class Sum>
  void each_column(std::size_t s, Spectrum<Scalar>& z, Sum sum) const {
    const std::int64_t n = sides_[s], behind = places_behind(s);
    Spectrum<Scalar> column(n);
    for (std::int64_t group = 0; group < places_ / (n * behind); ++group) {
      for (std::int64_t r = 0; r < behind; ++r) {
        const auto at = [&](std::int64_t k) { return (group * n + k) * behind + r; };
        for (std::int64_t k = 0; k < n; ++k) column[k] = z[at(k)];
        for (std::int64_t k = 0; k < n; ++k) z[at(k)] = sum(r, column, k, group);
      }
    }
  }

  template <class B>
  static Scalar real_chain(const Spectrum<Scalar>& column, B b) {
    return contraction<Scalar>(
        std::ssize(column), [&](std::int64_t t) { return column[t].real; }, b);
  }

  // N1 over the real parts times b and then the imaginary ones times c.
  template <class B, class C>
  static Scalar chain(const Spectrum<Scalar>& column, B b, C c) {
    const std::int64_t n = std::ssize(column);
    return contraction<Scalar>(
        2 * n, [&](std::int64_t k) { return k < n ? column[k].real : column[k - n].imaginary; },
        [&](std::int64_t k) { return k < n ? b(k) : c(k - n); });
  }

  [[nodiscard]] Complex<Scalar> times(const Complex<Scalar>& z, const Complex<Scalar>& w) const {
    return {rounded(fma(-w.imaginary, z.imaginary, w.real * z.real)),
            rounded(fma(w.real, z.imaginary, w.imaginary * z.real))};
  }

  RoundTo to_;
  std::int64_t places_;
  std::vector<std::int64_t> sides_;
  std::vector<Spectrum<Scalar>> matrices_,  ///< by side; (n, n), of place t and k
      factors_;                             ///< by side; (n, places behind it), of k and r
  int of_factors_ = 0;                      ///< T
};

}  // namespace halftone::reference

// SPDX-License-Identifier: Apache-2.0
// D101 and D102 by products of matrices, Z7 to Z10: against the sums that they stand for, against
// numpy's fft, and against N15, which every order of a product's sum stays inside of, and no
// mutant.
#include "matrix_transforms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include "amx/tile_sum.hpp"
#include "contraction_sums.hpp"
#include "long_convolution.hpp"
#include "long_convolution_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr RoundTo kFormats[] = {{Element::f16}, {Element::bf16}, {Element::tf32}};

double roundoff(Element format) { return format == Element::bf16 ? 0x1p-8 : 0x1p-11; }

/// N15: of the places' norm, over those of x and filter.
double order_of_error(std::int64_t length, Element format) {
  const auto sides = static_cast<double>(transform_sides(spectrum_places(length)).size());
  return std::sqrt(6 * sides) / 2 * roundoff(format);
}

double distance(const Values<float>& values, const Values<double>& exact) {
  Values<double> error;
  for (std::size_t e = 0; e < values.size(); ++e) error.push_back(values[e] - exact[e]);
  return norm(error);
}

/// Z7 to Z10 once more, spelled with sums of any order; what is wrong with it is a mutant.
struct Spelled {
  RoundTo to;
  float (*sum)(Row, Row) = chain;
  int sign_of_factors = 1, sign_of_sines = 1;
  bool turns_back = true;  ///< whether factors are multiplied by on the way back
  int first = 1;           ///< of 4k + 1

  std::vector<std::int64_t> sides = {};
  std::int64_t places = 0;

  Values<float> convolve(const Values<double>& x, const Values<double>& filter) {
    places = spectrum_places(std::ssize(x));
    sides = transform_sides(places);
    const Spectrum<float> a = there(x), b = there(filter);
    Values<float> y = back(product(a, b));
    y.resize(x.size());
    return y;
  }

 private:
  [[nodiscard]] float rounded(float value) const { return round(to, value); }
  [[nodiscard]] std::int64_t behind(std::size_t s) const {
    std::int64_t all = 1;
    for (std::size_t i = s + 1; i < sides.size(); ++i) all *= sides[i];
    return all;
  }
  static int half(std::int64_t side) { return static_cast<int>(std::log2(side)) / 2; }

  [[nodiscard]] Complex<float> matrix(std::size_t s, std::int64_t t, std::int64_t k) const {
    const std::int64_t turn = std::int64_t{1} << 22;
    const std::int64_t q =
        s == 0 ? (4 * k + first) * t * (turn / 4 / sides[0]) : k * t * (turn / sides[s]);
    const auto point = point_of_turn<float>(q % turn);
    return {rounded(point.real), rounded(point.imaginary) * static_cast<float>(sign_of_sines)};
  }
  [[nodiscard]] Complex<float> factor(std::size_t s, std::int64_t k, std::int64_t r) const {
    const std::int64_t turn = std::int64_t{1} << 22, all = sides[s] * behind(s);
    const auto point = point_of_turn<float>(s == 0 ? (4 * k + first) * r * (turn / 4 / all)
                                                   : k * r * (turn / all));
    const float scale = std::exp2(static_cast<float>(-half(sides[s])));
    return {point.real * scale, point.imaginary * scale * static_cast<float>(sign_of_factors)};
  }
  [[nodiscard]] Complex<float> turned(Complex<float> z, Complex<float> by) const {
    return {rounded(std::fma(-by.imaginary, z.imaginary, by.real * z.real)),
            rounded(std::fma(by.real, z.imaginary, by.imaginary * z.real))};
  }

  /// Of side s, each column that lies behind places `at` of it, its real parts and then its
  /// imaginary ones, times its matrix or, on the way back, the conjugate's transposed.
  template <class Leave>
  void multiply(std::size_t s, Spectrum<float>& z, bool back, Leave leave) const {
    const std::int64_t n = sides[s], others = behind(s);
    for (std::int64_t column = 0; column < places / n; ++column) {
      const std::int64_t r = column % others, group = column / others;
      std::vector<float> parts(2 * n), of_real(2 * n), of_imaginary(2 * n);
      for (std::int64_t i = 0; i < n; ++i) {
        const Complex<float>& from = z[(group * n + i) * others + r];
        parts[i] = from.real, parts[n + i] = from.imaginary;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          const Complex<float> m = back ? matrix(s, i, j) : matrix(s, j, i);
          const float sine = back ? -m.imaginary : m.imaginary;
          of_real[j] = m.real, of_real[n + j] = -sine;
          of_imaginary[j] = sine, of_imaginary[n + j] = m.real;
        }
        const std::size_t terms = s == 0 && !back ? n : 2 * n;
        const Complex<float> sums{sum(Row(parts).first(terms), Row(of_real).first(terms)),
                                  sum(Row(parts).first(terms), Row(of_imaginary).first(terms))};
        z[(group * n + i) * others + r] = leave(sums, group, i, r);
      }
    }
  }

  [[nodiscard]] Spectrum<float> there(const Values<double>& x) const {
    Spectrum<float> z(places);
    for (std::size_t t = 0; t < x.size(); ++t) z[t].real = rounded(static_cast<float>(x[t]));
    for (std::size_t s = 0; s < sides.size(); ++s)
      multiply(s, z, false, [&](Complex<float> sums, std::int64_t, std::int64_t k, std::int64_t r) {
        return s + 1 == sides.size() ? sums : turned(sums, factor(s, k, r));
      });
    return z;
  }

  [[nodiscard]] Values<float> back(Spectrum<float> z) const {
    int scale = -half(sides.back()), rest = half(sides.back());
    for (std::size_t s = 0; s + 1 < sides.size(); ++s) scale += half(sides[s]);
    for (std::size_t s = 0; s + 1 < sides.size(); ++s) rest += 2 * half(sides[s]);
    for (Complex<float>& at : z)
      at = {rounded(std::ldexp(at.real, scale)), rounded(std::ldexp(at.imaginary, scale))};
    for (std::size_t s = sides.size(); s-- > 0;)
      multiply(s, z, true,
               [&](Complex<float> sums, std::int64_t group, std::int64_t i, std::int64_t r) {
                 if (s == 0) return sums;
                 auto by = factor(s - 1, group % sides[s - 1], i * behind(s) + r);
                 if (!turns_back) by = {std::hypot(by.real, by.imaginary), 0};
                 return turned(sums, {by.real, -by.imaginary});
               });
    Values<float> y;
    for (const Complex<float>& at : z)
      y.push_back(std::ldexp(at.real, rest) / static_cast<float>(places));
    return y;
  }
};

float tiles(Row a, Row b) { return halftone::tests::amx::tile_sum(a, b); }

/// The error of what `spelled` computes of noise, as a share of what N15 allows.
double share_of_bound(Spelled spelled, std::int64_t length) {
  const Values<double> x = noise(length, 1), filter = noise(length, 2);
  const Element judged_by = spelled.to.format;
  return distance(spelled.convolve(x, filter), OfNoise<double>(length).y) /
         (order_of_error(length, judged_by) * norm(x) * norm(filter));
}

}  // namespace

TEST_CASE("Z7: sides are few, of 128 places at most, and their product is all places") {
  for (int stages = 1; stages <= 20; ++stages) {
    CAPTURE(stages);
    const auto sides = transform_sides(std::int64_t{1} << stages);
    std::int64_t all = 1;
    for (const std::int64_t side : sides) {
      CHECK(side <= 128);
      all *= side;
    }
    CHECK(all == std::int64_t{1} << stages);
    CHECK(std::ssize(sides) == (stages <= 7 ? 1 : stages <= 14 ? 2 : 3));
    CHECK(std::ranges::is_sorted(sides, std::greater<>()));
    CHECK(sides.front() <= 2 * sides.back());
  }
}

TEST_CASE("Z7: points of a whole turn are libm's, but for two units of the last place of 1") {
  for (std::int64_t q = 0; q < 1 << 22; q += q % 1024 == 0 ? 1 : 341) {
    CAPTURE(q);
    const double angle = 2 * std::numbers::pi * static_cast<double>(q) / (1 << 22);
    const Complex<float> point = point_of_turn<float>(q);
    CHECK(std::abs(point.real - std::cos(angle)) <= 0x1p-23);
    CHECK(std::abs(point.imaginary - std::sin(angle)) <= 0x1p-23);
  }
}

TEST_CASE("exact results and gradients by products are the sums, whatever the number of places") {
  for (const std::int64_t places : {1, 2, 3, 5, 8, 13, 16, 33, 100, 128, 129, 200, 300}) {
    LayerCase layer = long_convolution(2, places, 3);
    layer.internals["transforms"] = {Element::f16};  // which asks for them, and rounds no double
    check_exact(layer);
  }
}

TEST_CASE("three products have the exact sums of numpy's fft; rounded ones its, but for N15") {
  for (const std::int64_t n : {4096, 5000, 32768}) {
    CAPTURE(n);
    const OfNoise<double> exact(n, {Element::f16});
    const double x = norm(noise(n, 1)), filter = norm(noise(n, 2)), g = norm(noise(n, 3));
    for (const RoundTo to : kFormats) {
      const OfNoise<float> declared(n, to);
      // Of one place: six standard deviations, were all places' alike.
      const double share =
          6 * order_of_error(n, to.format) / std::sqrt(static_cast<double>(spectrum_places(n)));
      for (const ConvolvedPlace& at : kConvolvedPlaces) {
        if (at.length != n) continue;
        CAPTURE(at.place);
        const auto check = [&](double expected, double in_double, float in_float, double scale) {
          CHECK(std::abs(in_double - expected) <= 1e-13 * scale);
          CHECK(std::abs(in_float - expected) <= share * scale);
        };
        check(at.y, exact.y[at.place], declared.y[at.place], x * filter);
        check(at.of_x, exact.of_x[at.place], declared.of_x[at.place], g * filter);
        check(at.of_filter, exact.of_filter[at.place], declared.of_filter[at.place], g * x);
      }
    }
  }
}

TEST_CASE("in order Z7 to Z10 have the reference's bits, however they are spelled") {
  for (const std::int64_t n : {1, 2, 13, 128, 200, 1000})
    for (const RoundTo to : kFormats) {
      CAPTURE(n);
      CHECK(Spelled{.to = to}.convolve(noise(n, 1), noise(n, 2)) == OfNoise<float>(n, to).y);
    }
}

TEST_CASE("products in other orders and by tensor cores stay inside of N15") {
  struct Order {
    std::string name;
    float (*sum)(Row, Row);
  };
  double largest = 0;
  for (const auto& [name, sum] :
       {Order{"N1", chain}, Order{"reversed", reversed}, Order{"pairwise", pairwise},
        Order{"split by 4", split<4>}, Order{"blocks of 8", blocks<8>},
        Order{"blocks of 16", blocks<16>}, Order{"truncated chain", truncated_chain},
        Order{"tiles of AMX", tiles}})
    for (const std::int64_t n : {64, 200, 1000, 4096})
      for (const RoundTo to : kFormats) {
        CAPTURE(name);
        CAPTURE(n);
        const double share = share_of_bound({.to = to, .sum = sum}, n);
        CHECK(share < 1);
        CHECK(share > 0.05);  // what is rounded is no exact sum
        largest = std::max(largest, share);
      }
  MESSAGE("the largest share of N15 that a legitimate sum took: " << largest);
}

TEST_CASE("mutants leave N15") {
  struct Mutant {
    std::string name;
    Spelled spelled;
  };
  const RoundTo f16{Element::f16};
  for (const auto& [name, spelled] :
       {Mutant{"one product dropped", {.to = f16, .sum = drops_one}},
        Mutant{"one sign flipped", {.to = f16, .sum = flips_one}},
        Mutant{"last element of k missed", {.to = f16, .sum = misses_last}},
        Mutant{"accumulation in bf16", {.to = f16, .sum = narrow_accumulator<Element::bf16, 1>}},
        Mutant{"accumulation in f16", {.to = f16, .sum = narrow_accumulator<Element::f16, 1>}},
        Mutant{"all zero", {.to = f16, .sum = zero}},
        Mutant{"factors of the other sign", {.to = f16, .sign_of_factors = -1}},
        Mutant{"sines of the other sign", {.to = f16, .sign_of_sines = -1}},
        Mutant{"no factors on the way back", {.to = f16, .turns_back = false}},
        Mutant{"cyclic spectra", {.to = f16, .first = 0}}})
    for (const std::int64_t n : {200, 1000, 4096}) {
      CAPTURE(name);
      CAPTURE(n);
      CHECK(share_of_bound(spelled, n) > 1);
    }
  // Spectra held in bf16, judged by f16's bound.
  const Values<double> x = noise(1000, 1), filter = noise(1000, 2);
  CHECK(distance(OfNoise<float>(1000, {Element::bf16}).y, OfNoise<double>(1000).y) >
        order_of_error(1000, Element::f16) * norm(x) * norm(filter));
}

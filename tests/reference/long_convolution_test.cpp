// SPDX-License-Identifier: Apache-2.0
// D101 and D102, by the transforms Z1 to Z4: against the sums that they stand for, and against
// numpy's fft of long sequences (record_long_convolution.py).
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "layer_case.hpp"
#include "long_convolution_expected.hpp"
#include "transforms.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr double kRoundoff = 0x1p-24;

LayerCase convolution(std::int64_t sequences, std::int64_t places, std::int64_t channels) {
  const Extents extents{sequences, places, channels};
  return {"of " + std::to_string(places) + " places",
          "long_convolution",
          {values("x", extents, 1), values("filter", {places, channels}, 2)},
          extents};
}

/// The sums of D101 and D102, one after another.
struct Direct {
  Values<double> y, of_x, of_filter;

  explicit Direct(const LayerCase& layer) {
    const std::int64_t sequences = layer.extents[0], n = layer.extents[1], c = layer.extents[2];
    const Values<double>&x = layer.operands[0].values, &f = layer.operands[1].values,
          g = data(count(layer.extents), 9);
    y.resize(x.size()), of_x.resize(x.size()), of_filter.resize(f.size());
    for (std::int64_t i = 0; i < sequences; ++i) {
      for (std::int64_t t = 0; t < n; ++t) {
        for (std::int64_t s = 0; s <= t; ++s) {
          for (std::int64_t j = 0; j < c; ++j) {
            const std::int64_t now = (i * n + t) * c + j, before = (i * n + t - s) * c + j,
                               tap = s * c + j;
            y[now] += f[tap] * x[before];
            of_x[before] += f[tap] * g[now];
            of_filter[tap] += x[before] * g[now];
          }
        }
      }
    }
  }
};

void check_near(const Values<double>& values, const Values<double>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    CAPTURE(e);
    CHECK(values[e] == doctest::Approx(expected[e]).epsilon(1e-12));
  }
}

/// As noise() of record_long_convolution.py.
Values<double> noise(std::int64_t count, std::uint64_t salt) {
  Values<double> values;
  for (std::int64_t i = 1; i <= count; ++i) {
    std::uint64_t z = (static_cast<std::uint64_t>(i) + (salt << 32)) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z = z ^ z >> 31;
    values.push_back(static_cast<double>(z >> 40) / 0x1p23 - 1);
  }
  return values;
}

double norm(const Values<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// Result and gradients of one sequence of noise.
template <class Scalar>
struct OfNoise {
  Values<Scalar> y, of_x, of_filter;

  explicit OfNoise(std::int64_t n) {
    LayerCase of = convolution(1, n, 1);
    of.operands[0].values = noise(n, 1), of.operands[1].values = noise(n, 2);
    y = result<Scalar>(of);
    const Values<Scalar> g = as<Scalar>(noise(n, 3));
    auto gradients = gradients_of(of.kind, layer_of<Scalar>(of), View<Scalar>(g));
    of_x = gradients[0], of_filter = gradients[1];
  }
};

}  // namespace

TEST_CASE("exact results and gradients are the sums, whatever the number of places") {
  for (const std::int64_t places : {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 100}) {
    const LayerCase layer = convolution(2, places, 3);
    CAPTURE(layer.name);
    const Direct direct(layer);
    check_near(result<double>(layer), direct.y);
    const OperandGradients<double> all = gradients<double>(layer);
    check_near(all[0], direct.of_x);
    check_near(all[1], direct.of_filter);
  }
}

TEST_CASE("declared evaluation stays within the bound of the sums") {
  for (const std::int64_t places : {1, 2, 3, 8, 13, 33}) {
    const LayerCase layer = convolution(2, places, 3);
    CAPTURE(layer.name);
    const Direct direct(layer);
    const auto declared = gradients<float>(layer);
    const auto bounded = gradients<Bounded>(layer);
    Judged judged;
    judged.append(direct.y, result<float>(layer), result<Bounded>(layer));
    judged.append(direct.of_x, declared[0], bounded[0]);
    judged.append(direct.of_filter, declared[1], bounded[1]);
    for (double& error : judged.error) error += 1e-13;  // of the direct sums themselves
    check_declared(judged);
  }
}

TEST_CASE("long sequences have numpy's sums, but for log2(places) roundings of the mean size") {
  std::map<std::int64_t, OfNoise<double>> exact;
  std::map<std::int64_t, OfNoise<float>> declared;
  for (const ConvolvedPlace& at : kConvolvedPlaces) {
    const std::int64_t n = at.length;
    CAPTURE(n);
    CAPTURE(at.place);
    const auto& e = exact.try_emplace(n, n).first->second;
    const auto& d = declared.try_emplace(n, n).first->second;
    const double stages = std::log2(static_cast<double>(spectrum_places(n)));
    const auto check = [&](double expected, double in_double, float in_float, double scale) {
      CHECK(std::abs(in_double - expected) <= 1e-14 * stages * scale);
      CHECK(std::abs(in_float - expected) <= kRoundoff * stages * scale);
    };
    const double x = norm(noise(n, 1)), filter = norm(noise(n, 2)), g = norm(noise(n, 3));
    check(at.y, e.y[at.place], d.y[at.place], x * filter);
    check(at.of_x, e.of_x[at.place], d.of_x[at.place], g * filter);
    check(at.of_filter, e.of_filter[at.place], d.of_filter[at.place], g * x);
  }
}

TEST_CASE("Z1: turns are those of libm, but for two units of the last place of 1") {
  for (int s = 0; s < 20; ++s) {
    for (std::int64_t b = 0; b < std::int64_t{1} << s; b += 1 + (b >> 9)) {
      CAPTURE(s);
      CAPTURE(b);
      // A part whose places turn by an angle has two halves, that turn by half of it and by pi
      // more.
      double angle = std::numbers::pi / 4;
      for (int bit = s; bit-- > 0;) angle = angle / 2 + (b >> bit & 1) * std::numbers::pi / 2;
      const Complex<float> declared = spectrum_turn<float>(s, b);
      CHECK(std::abs(declared.real - std::cos(angle)) <= 2 * kRoundoff);
      CHECK(std::abs(declared.imaginary - std::sin(angle)) <= 2 * kRoundoff);
    }
  }
}

TEST_CASE("no sequence and no channel depends on another") {
  const LayerCase all = convolution(3, 13, 4);
  const Values<float> y = result<float>(all);
  for (std::int64_t channel = 0; channel < 4; ++channel) {
    LayerCase one = convolution(1, 13, 1);
    for (std::int64_t t = 0; t < 13; ++t) {
      one.operands[0].values[t] = all.operands[0].values[(13 + t) * 4 + channel];
      one.operands[1].values[t] = all.operands[1].values[t * 4 + channel];
    }
    const Values<float> alone = result<float>(one);
    for (std::int64_t t = 0; t < 13; ++t) CHECK(alone[t] == y[(13 + t) * 4 + channel]);
  }
}

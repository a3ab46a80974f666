// SPDX-License-Identifier: Apache-2.0
// D101 and D102, by the transforms Z1 to Z4: against the sums that they stand for, and against
// numpy's fft of long sequences (record_long_convolution.py).
#include "long_convolution.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <span>

#include "long_convolution_expected.hpp"
#include "transforms.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr double kRoundoff = 0x1p-24;

/// Exact and declared values at `places` of sequences of noise are those of numpy.
void check_places(std::span<const ConvolvedPlace> places) {
  std::map<std::int64_t, OfNoise<double>> exact;
  std::map<std::int64_t, OfNoise<float>> declared;
  for (const ConvolvedPlace& at : places) {
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

}  // namespace

TEST_CASE("exact results and gradients are the sums, whatever the number of places") {
  for (const std::int64_t places : {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 100})
    check_exact(long_convolution(2, places, 3));
}

TEST_CASE("declared evaluation stays within the bound of the sums") {
  for (const std::int64_t places : {1, 2, 3, 8, 13, 33}) {
    const LayerCase layer = long_convolution(2, places, 3);
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
  check_places(kConvolvedPlaces);
}

TEST_CASE("the longest sequence that there may be has numpy's sums, too") {
  check_places(kMostConvolvedPlaces);
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
  const LayerCase all = long_convolution(3, 13, 4);
  const Values<float> y = result<float>(all);
  for (std::int64_t channel = 0; channel < 4; ++channel) {
    LayerCase one = long_convolution(1, 13, 1);
    for (std::int64_t t = 0; t < 13; ++t) {
      one.operands[0].values[t] = all.operands[0].values[(13 + t) * 4 + channel];
      one.operands[1].values[t] = all.operands[1].values[t * 4 + channel];
    }
    const Values<float> alone = result<float>(one);
    for (std::int64_t t = 0; t < 13; ++t) CHECK(alone[t] == y[(13 + t) * 4 + channel]);
  }
}

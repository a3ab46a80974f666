// SPDX-License-Identifier: Apache-2.0
// Long convolutions of noise, and the sums that they stand for.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "layer_case.hpp"

namespace halftone::reference::tests {

inline LayerCase long_convolution(std::int64_t sequences, std::int64_t places,
                                  std::int64_t channels) {
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

inline void check_near(const Values<double>& values, const Values<double>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    CAPTURE(e);
    CHECK(values[e] == doctest::Approx(expected[e]).epsilon(1e-12));
  }
}

/// That exact results and gradients are the sums.
inline void check_exact(const LayerCase& layer) {
  CAPTURE(layer.name);
  const Direct direct(layer);
  check_near(result<double>(layer), direct.y);
  const OperandGradients<double> all = gradients<double>(layer);
  check_near(all[0], direct.of_x);
  check_near(all[1], direct.of_filter);
}

/// As noise() of record_long_convolution.py.
inline Values<double> noise(std::int64_t count, std::uint64_t salt) {
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

inline double norm(const Values<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// Result and gradients of one sequence of noise.
template <class Scalar>
struct OfNoise {
  Values<Scalar> y, of_x, of_filter;

  explicit OfNoise(std::int64_t n, RoundTo transforms = {}) {
    LayerCase of = long_convolution(1, n, 1);
    of.operands[0].values = noise(n, 1), of.operands[1].values = noise(n, 2);
    of.internals["transforms"] = transforms;
    y = result<Scalar>(of);
    const Values<Scalar> g = as<Scalar>(noise(n, 3));
    auto gradients = gradients_of(of.kind, layer_of<Scalar>(of), View<Scalar>(g));
    of_x = gradients[0], of_filter = gradients[1];
  }
};

}  // namespace halftone::reference::tests

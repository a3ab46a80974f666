// SPDX-License-Identifier: Apache-2.0
// pool: D85 and D86.
#pragma once

#include <limits>

#include "../layer.hpp"
#include "../windows.hpp"

namespace halftone::reference {

struct Pool : LayerKind {
  static constexpr std::string_view word = "pool";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D85
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    if (is_max(layer)) return largest(layer, layer["x"]).values;
    const Windows windows = windows_of(layer);
    const View<Scalar> x = layer["x"];
    const std::int64_t channels = columns(layer.extents);
    Values<Scalar> y(count(layer.extents), Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      for (std::int64_t p = 0; p < windows.taps(); ++p) {
        const std::int64_t at = windows.place(e / channels, p);
        y[e] = y[e] + (at == Windows::kOutside ? Scalar(0) : x[at * channels + e % channels]);
      }
      y[e] = y[e] / divisor(layer, windows, e / channels);
    }
    return y;
  }

  // D86. The elements of a maximum are forward's.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Windows windows = windows_of(layer);
    const std::int64_t channels = columns(layer.extents);
    if (is_max(layer)) {
      const std::vector<std::int64_t> element =
          largest(layer, View<Scalar>(layer.operand("x").forward_values)).elements;
      return {collect(layer, windows, [&](std::int64_t e, std::int64_t p) {
        return element[e] == p ? g[e] : Scalar(0);
      })};
    }
    Values<Scalar> shares(g.size());
    for (std::int64_t e = 0; e < std::ssize(g); ++e)
      shares[e] = g[e] / divisor(layer, windows, e / channels);
    return {collect(layer, windows, [&](std::int64_t e, std::int64_t) { return shares[e]; })};
  }

 private:
  static constexpr std::int64_t kNone = -1;

  template <class Scalar>
  struct Largest {
    Values<Scalar> values;
    std::vector<std::int64_t> elements;  ///< of which element of its window each is
  };

  template <class Scalar>
  static bool is_max(const Layer<Scalar>& layer) {
    return layer.settings.words.at("function") == "max";
  }

  template <class Scalar>
  static Windows windows_of(const Layer<Scalar>& layer) {
    return {layer.settings, layer.operand("x").extents, layer.extents};
  }

  template <class Scalar>
  static Largest<Scalar> largest(const Layer<Scalar>& layer, View<Scalar> x) {
    const Windows windows = windows_of(layer);
    const std::int64_t channels = columns(layer.extents), size = count(layer.extents);
    Largest<Scalar> result{
        Values<Scalar>(size, static_cast<Scalar>(-std::numeric_limits<double>::infinity())),
        std::vector(size, kNone)};
    for (std::int64_t e = 0; e < size; ++e) {
      for (std::int64_t p = 0; p < windows.taps(); ++p) {
        const std::int64_t at = windows.place(e / channels, p);
        if (at == Windows::kOutside) continue;
        const Scalar v = x[at * channels + e % channels];
        if (result.elements[e] != kNone && !std::isnan(plain(v)) && !(v > result.values[e]))
          continue;
        result.values[e] = v;
        result.elements[e] = p;
      }
    }
    return result;
  }

  template <class Scalar>
  static Scalar divisor(const Layer<Scalar>& layer, const Windows& windows, std::int64_t window) {
    std::int64_t counted = 0;
    for (std::int64_t p = 0; p < windows.taps(); ++p) {
      counted += layer.settings.flags.contains("count_include_pad") ||
                 windows.place(window, p) != Windows::kOutside;
    }
    return static_cast<Scalar>(static_cast<double>(counted));
  }

  // For every element of x the chain over p of what the window whose element p it is gives.
  template <class Scalar, class Give>
  static Values<Scalar> collect(const Layer<Scalar>& layer, const Windows& windows, Give give) {
    const std::int64_t channels = columns(layer.extents);
    Values<Scalar> of_x(count(layer.operand("x").extents), Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(of_x); ++e) {
      for (std::int64_t p = 0; p < windows.taps(); ++p) {
        const std::int64_t at = windows.window(e / channels, p);
        of_x[e] =
            of_x[e] + (at == Windows::kOutside ? Scalar(0) : give(at * channels + e % channels, p));
      }
    }
    return of_x;
  }
};

}  // namespace halftone::reference

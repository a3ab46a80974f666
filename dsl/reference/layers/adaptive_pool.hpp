// SPDX-License-Identifier: Apache-2.0
// adaptive_pool: D99 and D100.
#pragma once

#include <cmath>
#include <limits>

#include "../layer.hpp"

namespace halftone::reference {

struct AdaptivePool : LayerKind {
  static constexpr std::string_view word = "adaptive_pool";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D99
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    if (is_max(layer)) return largest(layer, layer["x"]).values;
    const View<Scalar> x = layer["x"];
    Values<Scalar> y(count(layer.extents), Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::vector<std::int64_t> elements = window_of(layer, e);
      for (const std::int64_t at : elements) y[e] = y[e] + x[at];
      y[e] = y[e] / static_cast<Scalar>(static_cast<double>(elements.size()));
    }
    return y;
  }

  // D100. Windows are visited in row-major order. The elements of a maximum are forward's.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    Values<Scalar> of_x(count(layer.operand("x").extents), Scalar(0));
    std::vector<std::int64_t> taken;
    if (is_max(layer))
      taken = largest(layer, View<Scalar>(layer.operand("x").forward_values)).elements;
    for (std::int64_t e = 0; e < std::ssize(g); ++e) {
      const std::vector<std::int64_t> elements = window_of(layer, e);
      const Scalar share = g[e] / static_cast<Scalar>(static_cast<double>(elements.size()));
      for (const std::int64_t at : elements) {
        const Scalar given = taken.empty() ? share : taken[e] == at ? g[e] : Scalar(0);
        of_x[at] = of_x[at] + given;
      }
    }
    return {of_x};
  }

 private:
  template <class Scalar>
  struct Largest {
    Values<Scalar> values;
    std::vector<std::int64_t> elements;  ///< of x
  };

  template <class Scalar>
  static bool is_max(const Layer<Scalar>& layer) {
    return layer.settings.words.at("function") == "max";
  }

  template <class Scalar>
  static Largest<Scalar> largest(const Layer<Scalar>& layer, View<Scalar> x) {
    Largest<Scalar> result;
    for (std::int64_t e = 0; e < count(layer.extents); ++e) {
      const std::vector<std::int64_t> elements = window_of(layer, e);
      std::int64_t taken = elements.front();
      for (const std::int64_t at : elements)
        if (x[at] > x[taken] || std::isnan(plain(x[at]))) taken = at;
      result.values.push_back(x[taken]);
      result.elements.push_back(taken);
    }
    return result;
  }

  // The elements of x that element e of the result is of, in row-major order.
  template <class Scalar>
  static std::vector<std::int64_t> window_of(const Layer<Scalar>& layer, std::int64_t e) {
    const Extents &x = layer.operand("x").extents, &y = layer.extents;
    const std::size_t spatial = layer.settings.lists.at("size").size();
    std::vector<std::int64_t> elements{0};
    std::vector<std::int64_t> coordinates(y.size());
    for (std::size_t d = y.size(); d-- > 0; e /= y[d]) coordinates[d] = e % y[d];
    for (std::size_t d = 0; d < y.size(); ++d) {
      std::int64_t begin = coordinates[d], end = begin + 1;
      if (d + 1 < y.size() && d + 1 + spatial >= y.size()) {
        begin = coordinates[d] * x[d] / y[d];
        end = ((coordinates[d] + 1) * x[d] + y[d] - 1) / y[d];
      }
      std::vector<std::int64_t> longer;
      for (const std::int64_t element : elements)
        for (std::int64_t at = begin; at < end; ++at) longer.push_back(element * x[d] + at);
      elements = longer;
    }
    return elements;
  }
};

}  // namespace halftone::reference

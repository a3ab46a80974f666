// SPDX-License-Identifier: Apache-2.0
// upsample: D87 and D88.
#pragma once

#include <algorithm>

#include "../layer.hpp"

namespace halftone::reference {

struct Upsample : LayerKind {
  static constexpr std::string_view word = "upsample";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D87
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const std::vector<Axis> axes = axes_of(layer);
    Values<Scalar> values(layer["x"].begin(), layer["x"].end());
    if (is_linear(layer)) {
      for (std::size_t d = axes.size(); d-- > 0;) values = stretched(axes[d], values);
      return values;
    }
    Values<Scalar> y(count(layer.extents));
    for (std::int64_t e = 0; e < std::ssize(y); ++e) y[e] = values[source(layer, e)];
    return y;
  }

  // D88
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    if (is_linear(layer)) {
      Values<Scalar> values(g.begin(), g.end());
      for (const Axis& axis : axes_of(layer)) values = shrunk(axis, values);
      return {values};
    }
    // What reads an element is visited in row-major order.
    Values<Scalar> of_x(count(layer.operand("x").extents), Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(g); ++e) {
      Scalar& sum = of_x[source(layer, e)];
      sum = sum + g[e];
    }
    return {of_x};
  }

 private:
  // A spatial dimension: its length in x, the factor, and how many elements one of it has. Those
  // before it are as in x, those behind it as in the result.
  struct Axis {
    std::int64_t length, factor, inner;
  };

  // What element i of the result reads along an axis.
  struct Blend {
    std::int64_t low, high;
    double weight;  // of high

    Blend(const Axis& axis, std::int64_t i) {
      const std::int64_t u = i / axis.factor, t = 2 * (i % axis.factor) + 1 - axis.factor;
      weight = static_cast<double>(t) / static_cast<double>(2 * axis.factor) + (t < 0 ? 1 : 0);
      low = std::max<std::int64_t>(t < 0 ? u - 1 : u, 0);
      high = std::min(t > 0 ? u + 1 : u, axis.length - 1);
    }
    [[nodiscard]] bool is_copy() const { return weight == 0; }
  };

  template <class Scalar>
  static bool is_linear(const Layer<Scalar>& layer) {
    return layer.settings.words.at("mode") != "nearest";
  }

  template <class Scalar>
  static std::vector<Axis> axes_of(const Layer<Scalar>& layer) {
    const std::vector<std::int64_t>& factors = layer.settings.lists.at("factor");
    const Extents &x = layer.operand("x").extents, &y = layer.extents;
    std::vector<Axis> axes(factors.size());
    std::int64_t inner = y.back();
    for (std::size_t d = factors.size(); d-- > 0;) {
      const std::size_t at = y.size() - 1 - factors.size() + d;
      axes[d] = {x[at], factors[d], inner};
      inner *= y[at];
    }
    return axes;
  }

  // Which element of x the element e of the result repeats.
  template <class Scalar>
  static std::int64_t source(const Layer<Scalar>& layer, std::int64_t e) {
    const std::vector<std::int64_t>& factors = layer.settings.lists.at("factor");
    const Extents& y = layer.extents;
    const std::size_t first = y.size() - 1 - factors.size();
    std::int64_t result = 0, step = 1;
    for (std::size_t d = y.size(); d-- > 0;) {
      const std::int64_t factor = d < first || d + 1 == y.size() ? 1 : factors[d - first];
      result += e % y[d] / factor * step;
      step *= y[d] / factor;
      e /= y[d];
    }
    return result;
  }

  template <class Scalar>
  static Values<Scalar> stretched(const Axis& axis, const Values<Scalar>& x) {
    if (axis.factor == 1) return x;
    const std::int64_t length = axis.length * axis.factor;
    Values<Scalar> y(x.size() * axis.factor);
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::int64_t before = e / axis.inner / length, behind = e % axis.inner;
      const Blend blend(axis, e / axis.inner % length);
      const auto at = [&](std::int64_t u) {
        return x[(before * axis.length + u) * axis.inner + behind];
      };
      y[e] = blend.is_copy() ? at(blend.low)
                             : fma(static_cast<Scalar>(blend.weight), at(blend.high),
                                   static_cast<Scalar>(1 - blend.weight) * at(blend.low));
    }
    return y;
  }

  template <class Scalar>
  static Values<Scalar> shrunk(const Axis& axis, const Values<Scalar>& g) {
    if (axis.factor == 1) return g;
    const std::int64_t length = axis.length * axis.factor;
    Values<Scalar> of_x(g.size() / axis.factor, Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(of_x); ++e) {
      const std::int64_t before = e / axis.inner / axis.length, behind = e % axis.inner;
      const std::int64_t u = e / axis.inner % axis.length;
      for (std::int64_t i = 0; i < length; ++i) {
        const Blend blend(axis, i);
        const Scalar arriving = g[(before * length + i) * axis.inner + behind];
        if (blend.low == u) of_x[e] = fma(static_cast<Scalar>(1 - blend.weight), arriving, of_x[e]);
        if (blend.high == u && !blend.is_copy())
          of_x[e] = fma(static_cast<Scalar>(blend.weight), arriving, of_x[e]);
      }
    }
    return of_x;
  }
};

}  // namespace halftone::reference

// SPDX-License-Identifier: Apache-2.0
// pad: D91 and D92.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Pad : LayerKind {
  static constexpr std::string_view word = "pad";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D91
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const auto value = layer.settings.numbers.find("pad_value");
    const Scalar beside = value == layer.settings.numbers.end()
                              ? Scalar(0)
                              : static_cast<Scalar>(static_cast<float>(value->second));
    Values<Scalar> y(layer["x"].begin(), layer["x"].end());
    const std::vector<Axis> axes = axes_of(layer);
    for (std::size_t d = axes.size(); d-- > 0;) {
      Values<Scalar> longer;
      for (std::int64_t e = 0; e < std::ssize(y) / axes[d].length * axes[d].padded; ++e) {
        const std::int64_t from = axes[d].source(e);
        longer.push_back(from == kOutside ? beside : y[from]);
      }
      y = longer;
    }
    return y;
  }

  // D92: what reads an element is visited in row-major order.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    Values<Scalar> of_x(g.begin(), g.end());
    for (const Axis& axis : axes_of(layer)) {
      Values<Scalar> sums(std::ssize(of_x) / axis.padded * axis.length, Scalar(0));
      for (std::int64_t e = 0; e < std::ssize(of_x); ++e) {
        const std::int64_t to = axis.source(e);
        if (to == kOutside) continue;
        sums[to] = axis.mode == "constant" ? of_x[e] : sums[to] + of_x[e];
      }
      of_x = sums;
    }
    return {of_x};
  }

 private:
  static constexpr std::int64_t kOutside = -1;

  // A spatial dimension that is padded: its length before and after that, and how many elements one
  // of it has. Those before it are as in x, those behind it as in the result.
  struct Axis {
    std::string mode;
    std::int64_t before, length, padded, inner;

    // Of element e behind the padding.
    [[nodiscard]] std::int64_t source(std::int64_t e) const {
      const std::int64_t u = place(e / inner % padded - before);
      return u == kOutside ? kOutside : (e / inner / padded * length + u) * inner + e % inner;
    }
    [[nodiscard]] std::int64_t place(std::int64_t u) const {
      if (u >= 0 && u < length) return u;
      if (mode == "reflect") return u < 0 ? -u : 2 * (length - 1) - u;
      if (mode == "replicate") return u < 0 ? 0 : length - 1;
      if (mode == "circular") return u < 0 ? u + length : u - length;
      return kOutside;
    }
  };

  template <class Scalar>
  static std::vector<Axis> axes_of(const Layer<Scalar>& layer) {
    const std::vector<std::int64_t>& padding = layer.settings.lists.at("padding");
    const Extents &x = layer.operand("x").extents, &y = layer.extents;
    const std::size_t dimensions = padding.size() / 2;
    std::vector<Axis> axes;
    std::int64_t inner = y.back();
    for (std::size_t d = dimensions; d-- > 0;) {
      const std::size_t at = y.size() - 1 - dimensions + d;
      if (padding[d] != 0 || padding[dimensions + d] != 0)
        axes.insert(axes.begin(),
                    Axis{layer.settings.words.at("mode"), padding[d], x[at], y[at], inner});
      inner *= y[at];
    }
    return axes;
  }
};

}  // namespace halftone::reference

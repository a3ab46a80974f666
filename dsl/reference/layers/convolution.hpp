// SPDX-License-Identifier: Apache-2.0
// convolution: D77 and D78.
#pragma once

#include "../layer.hpp"
#include "../windows.hpp"

namespace halftone::reference {

struct Convolution : LayerKind {
  static constexpr std::string_view word = "convolution";
  static constexpr std::array classes{description::LayerClass::contraction};
  static constexpr std::array internals{std::string_view("product")};
  static constexpr bool reads(std::string_view read, std::string_view wanted) {
    return (read == "x" && wanted == "weight") || (read == "weight" && wanted == "x");
  }

  // D77
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Sizes sizes(layer);
    const View<Scalar> x = layer["x"], weight = layer["weight"], bias = layer["bias"];
    Values<Scalar> y(count(layer.extents));
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::int64_t window = e / sizes.outputs, o = e % sizes.outputs;
      const Scalar sum = contraction<Scalar>(
          sizes.length(), [&](std::int64_t k) { return sizes.element(x, window, o, k); },
          [&](std::int64_t k) { return weight[o * sizes.length() + k]; });
      const Scalar product = layer.internal("product", sum);
      y[e] = bias.empty() ? product : product + bias[o];
    }
    return y;
  }

  // D78
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Sizes sizes(layer);
    OperandGradients<Scalar> gradients(layer.operands.size());
    if (layer.wants("x"))
      gradients[layer.position("x")] =
          of_x(sizes, layer["weight"], g, count(layer.operand("x").extents));
    if (layer.wants("weight"))
      gradients[layer.position("weight")] = of_weight(sizes, layer["x"], g);
    if (layer.wants("bias")) gradients[layer.position("bias")] = column_sums(g, sizes.outputs);
    return gradients;
  }

 private:
  struct Sizes {
    Windows windows;
    std::int64_t channels, outputs, of_group, outputs_of_group;

    template <class Scalar>
    explicit Sizes(const Layer<Scalar>& layer)
        : windows(layer.settings, layer.operand("x").extents, layer.extents),
          channels(columns(layer.operand("x").extents)),
          outputs(columns(layer.extents)) {
      const auto groups = layer.settings.numbers.find("groups");
      const auto count =
          groups == layer.settings.numbers.end() ? 1 : static_cast<std::int64_t>(groups->second);
      of_group = channels / count;
      outputs_of_group = outputs / count;
    }

    // Of the chain of one result.
    [[nodiscard]] std::int64_t length() const { return windows.taps() * of_group; }

    // What output o of a window multiplies in place k of its chain: position k / of_group of the
    // kernel, channel k % of_group of its group.
    template <class Scalar>
    Scalar element(View<Scalar> x, std::int64_t window, std::int64_t o, std::int64_t k) const {
      const std::int64_t at = windows.input(window, k / of_group);
      if (at == Windows::kOutside) return Scalar(0);
      return x[at * channels + o / outputs_of_group * of_group + k % of_group];
    }
  };

  template <class Scalar>
  static Values<Scalar> of_x(const Sizes& sizes, View<Scalar> weight, View<Scalar> g,
                             std::int64_t elements) {
    Values<Scalar> result(elements);
    for (std::int64_t e = 0; e < elements; ++e) {
      const std::int64_t at = e / sizes.channels, c = e % sizes.channels;
      const std::int64_t first = c / sizes.of_group * sizes.outputs_of_group;
      const auto output = [&](std::int64_t k) { return first + k % sizes.outputs_of_group; };
      result[e] = contraction<Scalar>(
          sizes.windows.taps() * sizes.outputs_of_group,
          [&](std::int64_t k) {
            const std::int64_t window = sizes.windows.window(at, k / sizes.outputs_of_group);
            return window == Windows::kOutside ? Scalar(0) : g[window * sizes.outputs + output(k)];
          },
          [&](std::int64_t k) {
            const std::int64_t tap = k / sizes.outputs_of_group;
            return weight[(output(k) * sizes.windows.taps() + tap) * sizes.of_group +
                          c % sizes.of_group];
          });
    }
    return result;
  }

  template <class Scalar>
  static Values<Scalar> of_weight(const Sizes& sizes, View<Scalar> x, View<Scalar> g) {
    Values<Scalar> result(sizes.outputs * sizes.length());
    for (std::int64_t e = 0; e < std::ssize(result); ++e) {
      const std::int64_t o = e / sizes.length(), k = e % sizes.length();
      result[e] = contraction<Scalar>(
          std::ssize(g) / sizes.outputs,
          [&](std::int64_t window) { return g[window * sizes.outputs + o]; },
          [&](std::int64_t window) { return sizes.element(x, window, o, k); });
    }
    return result;
  }
};

}  // namespace halftone::reference

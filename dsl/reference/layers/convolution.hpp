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

  /// Of one group.
  static int columns_of_products(std::string_view operand, const Settings& settings, std::size_t) {
    const auto groups = settings.numbers.find("groups");
    const bool is_one = groups == settings.numbers.end() || groups->second == 1;
    return operand == "weight" && is_one ? 0 : -1;
  }

  // D77
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Windows windows = windows_of(layer);
    const WindowProducts products(layer, windows);
    const View<Scalar> bias = layer["bias"];
    return products.template forward<Scalar>(
        layer["x"], layer["weight"], count(layer.extents) / products.outputs,
        [&](std::int64_t window, std::int64_t tap) { return windows.place(window, tap); },
        [&](std::int64_t o, Scalar sum) {
          const Scalar product = layer.internal("product", layer.scaled(o, sum));
          return bias.empty() ? product : product + bias[o];
        });
  }

  // D78
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Windows windows = windows_of(layer);
    const WindowProducts products(layer, windows);
    OperandGradients<Scalar> gradients(layer.operands.size());
    if (layer.wants("x"))
      gradients[layer.position("x")] = products.template backward<Scalar>(
          g, layer["weight"], count(layer.operand("x").extents) / products.channels,
          [&](std::int64_t place, std::int64_t tap) { return windows.window(place, tap); });
    if (layer.wants("weight"))
      gradients[layer.position("weight")] = products.template weight_gradient<Scalar>(
          layer["x"], g, std::ssize(g) / products.outputs,
          [](std::int64_t window, std::int64_t) { return window; },
          [&](std::int64_t window, std::int64_t tap) { return windows.place(window, tap); });
    if (layer.wants("bias")) gradients[layer.position("bias")] = column_sums(g, products.outputs);
    return gradients;
  }

 private:
  template <class Scalar>
  static Windows windows_of(const Layer<Scalar>& layer) {
    return {layer.settings, layer.operand("x").extents, layer.extents};
  }
};

}  // namespace halftone::reference

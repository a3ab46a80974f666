// SPDX-License-Identifier: Apache-2.0
// embedding: D34 and D53.
#pragma once

#include <algorithm>
#include <limits>

#include "../layer.hpp"

namespace halftone::reference {

struct Embedding : LayerKind {
  static constexpr std::string_view word = "embedding";
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D34
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> weight = layer["weight"];
    const std::int64_t n = columns(layer.extents);
    Values<Scalar> y;
    for (const std::int32_t token : layer.operand("token").integers) {
      if (is_row(layer, token)) {
        const View<Scalar> row = weight.subspan(token * n, n);
        y.insert(y.end(), row.begin(), row.end());
      } else {
        y.insert(y.end(), n, static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN()));
      }
    }
    return y;
  }

  // D53
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Integers& tokens = layer.operand("token").integers;
    const std::int64_t n = columns(layer.extents);
    Values<Scalar> of_weight(layer["weight"].size(), Scalar(0));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is_row(layer, tokens[i]) || is_padding(layer, tokens[i])) continue;
      for (std::int64_t j = 0; j < n; ++j) {
        Scalar& chain = of_weight[tokens[i] * n + j];
        chain = chain + g[i * n + j];
      }
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("weight")] = std::move(of_weight);
    return gradients;
  }

 private:
  template <class Scalar>
  static bool is_row(const Layer<Scalar>& layer, std::int32_t token) {
    return token >= 0 && token < layer.operand("weight").extents[0];
  }

  template <class Scalar>
  static bool is_padding(const Layer<Scalar>& layer, std::int32_t token) {
    const auto padding = layer.settings.numbers.find("padding_index");
    return padding != layer.settings.numbers.end() && token == padding->second;
  }
};

}  // namespace halftone::reference

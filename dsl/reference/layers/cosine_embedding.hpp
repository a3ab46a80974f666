// SPDX-License-Identifier: Apache-2.0
// cosine_embedding: D107 and D108, weighted D71 and D72.
#pragma once

#include "../mean.hpp"

namespace halftone::reference {

struct CosineEmbedding : LayerKind {
  static constexpr std::string_view word = "cosine_embedding";
  static constexpr std::array classes{description::LayerClass::loss};

  // D107
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const auto n = static_cast<std::size_t>(columns(layer.operand("x").extents));
    const Scalar margin = static_cast<Scalar>(layer.settings.numbers.at("margin"));
    const View<Scalar> target = layer["target"];
    Values<Scalar> terms;
    for (std::size_t i = 0; i < target.size(); ++i) {
      const Scalar c = Rows<Scalar>(layer, i, n).cosine;
      Scalar term = 0;
      if (target[i] == Scalar(1)) term = 1 - c;
      if (target[i] == Scalar(-1)) term = c - margin < Scalar(0) ? Scalar(0) : c - margin;
      terms.push_back(term);
    }
    return mean(layer, terms);
  }

  // D108
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const auto n = static_cast<std::size_t>(columns(layer.operand("x").extents));
    const Scalar margin = static_cast<Scalar>(layer.settings.numbers.at("margin"));
    const View<Scalar> x = layer["x"], y = layer["y"], target = layer["target"];
    const Arriving<Scalar> s(layer, target.size(), g[0]);
    Values<Scalar> of_x(x.size(), Scalar(0)), of_y(x.size(), Scalar(0));
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (s.passes_over(i)) continue;
      const Rows<Scalar> rows(layer, i, n);
      const Scalar slope = target[i] == Scalar(1) ? -s.at(i)
                           : target[i] == Scalar(-1) && !(rows.cosine - margin < Scalar(0))
                               ? s.at(i)
                               : Scalar(0);
      for (std::size_t e = i * n; e < (i + 1) * n; ++e) {
        of_x[e] = slope * (y[e] * rows.both - x[e] * ((rows.cosine * rows.of_x) * rows.of_x));
        of_y[e] = slope * (x[e] * rows.both - y[e] * ((rows.cosine * rows.of_y) * rows.of_y));
      }
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    gradients[layer.position("y")] = std::move(of_y);
    return gradients;
  }

 private:
  // u, v, u * v and c of D107, of row i.
  template <class Scalar>
  struct Rows {
    Scalar of_x, of_y, both, cosine;

    Rows(const Layer<Scalar>& layer, std::size_t i, std::size_t n) {
      const View<Scalar> x = layer["x"].subspan(i * n, n), y = layer["y"].subspan(i * n, n);
      of_x = 1 / length(x);
      of_y = 1 / length(y);
      both = of_x * of_y;
      cosine = dot(x, y) * both;
    }

   private:
    static Scalar dot(View<Scalar> a, View<Scalar> b) {
      Values<Scalar> products;
      for (std::size_t j = 0; j < a.size(); ++j) products.push_back(a[j] * b[j]);
      return sum(View<Scalar>(products));
    }
    static Scalar length(View<Scalar> a) { return sqrt(dot(a, a) + static_cast<Scalar>(1e-12)); }
  };
};

}  // namespace halftone::reference

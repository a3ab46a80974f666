// SPDX-License-Identifier: Apache-2.0
// softmax: D103 and D104.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Softmax : LayerKind {
  static constexpr std::string_view word = "softmax";
  static constexpr std::array classes{description::LayerClass::softmax};

  // D103
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const bool log_of = layer.settings.flags.contains("log");
    Values<Scalar> y;
    for_rows(layer, [&](View<Scalar> x, std::size_t) {
      const Row<Scalar> row(x);
      const Scalar total = log(row.sum);
      for (std::size_t j = 0; j < x.size(); ++j)
        y.push_back(log_of ? (x[j] - row.maximum) - total : row.share(j));
    });
    return y;
  }

  // D104
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const bool log_of = layer.settings.flags.contains("log");
    Values<Scalar> of_x;
    for_rows(layer, [&](View<Scalar> x, std::size_t begin) {
      const Row<Scalar> row(x);
      Values<Scalar> arriving(x.size());
      for (std::size_t j = 0; j < x.size(); ++j)
        arriving[j] = log_of ? g[begin + j] : g[begin + j] * row.share(j);
      const Scalar a = sum(View<Scalar>(arriving));
      for (std::size_t j = 0; j < x.size(); ++j) {
        const Scalar share = row.share(j), arrives = g[begin + j];
        of_x.push_back(log_of ? arrives - share * a : share * (arrives - a));
      }
    });
    return {std::move(of_x)};
  }

 private:
  template <class Scalar>
  struct Row {
    Values<Scalar> exponentials;
    Scalar maximum, sum, reciprocal;

    explicit Row(View<Scalar> x) : maximum(row_maximum(x)) {
      for (const Scalar value : x) exponentials.push_back(exp(value - maximum));
      sum = reference::sum(View<Scalar>(exponentials));
      reciprocal = 1 / sum;
    }
    [[nodiscard]] Scalar share(std::size_t j) const { return exponentials[j] * reciprocal; }
  };

  // Calls visit with each row and where it begins.
  template <class Scalar, class Visit>
  static void for_rows(const Layer<Scalar>& layer, Visit visit) {
    const View<Scalar> x = layer["x"];
    const auto n = static_cast<std::size_t>(columns(layer.operand("x").extents));
    for (std::size_t row = 0; row < x.size(); row += n) visit(x.subspan(row, n), row);
  }
};

}  // namespace halftone::reference

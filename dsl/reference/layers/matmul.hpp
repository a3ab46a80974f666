// SPDX-License-Identifier: Apache-2.0
// matmul: D38 and D57.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Matmul : LayerKind {
  static constexpr std::string_view word = "matmul";
  static constexpr std::array classes{description::LayerClass::contraction};
  static constexpr bool multiplies_sums = true;
  static constexpr bool reads(std::string_view read, std::string_view wanted) {
    return read != wanted;
  }

  static int columns_of_products(std::string_view operand, const Settings& settings,
                                 std::size_t dimensions) {
    if (operand != "b" || dimensions != 2) return -1;
    return settings.flags.contains("transpose_b") ? 0 : 1;
  }

  // D38
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Matrix<Scalar> a(layer, "a"), b(layer, "b");
    const std::int64_t m = a.rows, k = a.columns, n = b.columns;
    Values<Scalar> y;
    for (std::int64_t batch = 0; batch < a.batches; ++batch) {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          const Scalar sum = product_sum(
              k, a.values, [&](std::int64_t c) { return a.at(batch, i, c); }, b.values,
              [&](std::int64_t c) { return b.at(batch, c, j); });
          y.push_back(layer.scaled(j, sum));
        }
      }
    }
    return y;
  }

  // D57
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Matrix<Scalar> a(layer, "a"), b(layer, "b");
    const std::int64_t m = a.rows, n = b.columns;
    const Factor<Scalar> arriving = layer.arriving(g);
    const auto at = [&](std::int64_t batch, std::int64_t i, std::int64_t j) {
      return (batch * m + i) * n + j;
    };
    OperandGradients<Scalar> gradients(layer.operands.size());
    if (layer.wants("a")) {
      gradients[layer.position("a")] =
          a.gradient([&](std::int64_t batch, std::int64_t i, std::int64_t c) {
            return product_sum(
                n, arriving, [&](std::int64_t j) { return at(batch, i, j); }, b.values,
                [&](std::int64_t j) { return b.at(batch, c, j); });
          });
    }
    if (layer.wants("b")) {
      gradients[layer.position("b")] =
          b.gradient([&](std::int64_t batch, std::int64_t c, std::int64_t j) {
            return product_sum(
                m, a.values, [&](std::int64_t i) { return a.at(batch, i, c); }, arriving,
                [&](std::int64_t i) { return at(batch, i, j); });
          });
    }
    return gradients;
  }

 private:
  // An operand as the matrices that are multiplied, transposed where the settings say so.
  template <class Scalar>
  struct Matrix {
    Factor<Scalar> values;
    bool transposed;
    std::int64_t rows, columns, batches;

    Matrix(const Layer<Scalar>& layer, const std::string& role)
        : values(layer.factor(role)),
          transposed(layer.settings.flags.contains("transpose_" + role)) {
      const Extents& extents = layer.operand(role).extents;
      rows = extents[extents.size() - 2];
      columns = extents.back();
      batches = values.numbers.size() / (rows * columns);
      if (transposed) std::swap(rows, columns);
    }

    [[nodiscard]] std::size_t at(std::int64_t batch, std::int64_t i, std::int64_t j) const {
      return batch * rows * columns + (transposed ? j * rows + i : i * columns + j);
    }

    // element(batch, i, j) of every element, laid out as the operand is.
    template <class Element>
    Values<Scalar> gradient(Element element) const {
      Values<Scalar> result(values.numbers.size());
      for (std::int64_t batch = 0; batch < batches; ++batch) {
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) result[at(batch, i, j)] = element(batch, i, j);
        }
      }
      return result;
    }
  };
};

}  // namespace halftone::reference

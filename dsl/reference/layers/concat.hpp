// SPDX-License-Identifier: Apache-2.0
// concat: D27 and D46.
#pragma once

#include <algorithm>

#include "../layer.hpp"

namespace halftone::reference {

struct Concat : LayerKind {
  static constexpr std::string_view word = "concat";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D27
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    Values<Scalar> y(count(layer.extents));
    for_each_part_row(layer, [&](std::size_t part, std::int64_t from, std::int64_t to) {
      const Operand<Scalar>& operand = layer.operands[part];
      std::copy_n(operand.values.begin() + from, columns(operand.extents), y.begin() + to);
    });
    return y;
  }

  // D46
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    OperandGradients<Scalar> gradients;
    for (const Operand<Scalar>& part : layer.operands) gradients.emplace_back(part.values.size());
    for_each_part_row(layer, [&](std::size_t part, std::int64_t to, std::int64_t from) {
      std::copy_n(g.begin() + from, columns(layer.operands[part].extents),
                  gradients[part].begin() + to);
    });
    return gradients;
  }

 private:
  // Calls visit(part, offset of its row, offset of the row's place in the whole) for every row of
  // every part.
  template <class Scalar, class Visit>
  static void for_each_part_row(const Layer<Scalar>& layer, Visit visit) {
    const std::int64_t width = columns(layer.extents);
    std::int64_t begin = 0;
    for (std::size_t part = 0; part < layer.operands.size(); ++part) {
      const std::int64_t n = columns(layer.operands[part].extents);
      const std::int64_t rows = count(layer.operands[part].extents) / n;
      for (std::int64_t i = 0; i < rows; ++i) visit(part, i * n, i * width + begin);
      begin += n;
    }
  }
};

}  // namespace halftone::reference

// SPDX-License-Identifier: Apache-2.0
// What a layer's formula sees: its node and its operands' values by role, as its operation reads
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halftone/description/description.hpp"
#include "numerics.hpp"

namespace halftone::reference {

template <class Scalar>
using Values = std::vector<Scalar>;

template <class Scalar>
using View = std::span<const Scalar>;

/// One gradient for each operand of the node, in their order; empty where the operand receives
/// none.
template <class Scalar>
using OperandGradients = std::vector<Values<Scalar>>;

template <class Scalar>
struct Layer {
  const description::Node& node;
  std::vector<Values<Scalar>> operands;  ///< in the node's order; empty for labels
  std::vector<std::int64_t> columns;     ///< the last extent of each operand, 1 for scalars
  std::span<const std::int32_t> labels;  ///< of a loss with a label operand
  // In the gradient passes alone:
  Values<Scalar> result;                         ///< what forward left
  std::vector<Values<Scalar>> forward_operands;  ///< as forward read them
  std::vector<bool> wanted;                      ///< the operands whose gradients the pass computes

  /// The operand's position, or -1 when the node has none of this role.
  [[nodiscard]] int position(std::string_view role) const {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i].role == role) return static_cast<int>(i);
    }
    return -1;
  }

  /// The operand's values; empty when the node has none of this role.
  [[nodiscard]] View<Scalar> operator[](std::string_view role) const {
    const int at = position(role);
    return at < 0 ? View<Scalar>() : View<Scalar>(operands[at]);
  }

  [[nodiscard]] std::int64_t columns_of(std::string_view role) const {
    return columns[position(role)];
  }
};

}  // namespace halftone::reference

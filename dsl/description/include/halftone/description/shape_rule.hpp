// SPDX-License-Identifier: Apache-2.0
// What the shape rules of kinds/ share. A rule is a template over the node that it is applied to,
// so that the dsl's check and validate() keep one rule and say one sentence. A node has
//   operands()                   how many, without a sample_weight
//   weighs()                     whether a sample_weight stands behind them, as operand operands()
//   shape(i)                     the shape of operand i
//   position(role)               which operand this is, -1 where it is absent
//   chosen(i, d, name)           dimension d of parameter i, which the layer itself chooses
//   flag(i)                      whether setting i is on
//   integers(s)                  setting s, where it is a list of integers: size() and []; empty
//                                where it is absent
//   dimensions()                 the list of dimensions of the node's kind
//   parameter(i, dimensions...)  gives parameter i its shape, or compares; false where refused
//   shaped_parameter(i, shape)   likewise
//   transposed_parameter(i, d0, d1)  likewise [d1, d0], whose columns are summed down
//   result(shape) refuse(words...)                     text, numbers, dimensions, shapes,
//   OperandName and kRemedy
//   states(s), integer(s)        setting s of the form, where it is an integer
//   number(s)                    likewise a number
//   choice(s)                    likewise which of its words
// and for shapes and dimensions is_batch (the symbol of that name), rank, at, last, rows (all but the last), with_last, extended (by a
// last one), kMostDimensions, is_fixed, extent and fixed; of symbols factor (how often one is
// taken) and with_factor, and extent is what is added to that, with_extent. What a symbol may be
// bound to says
//   limit(dimension, least, most, words...)  how long that may be, 1 and kNoMost where it is open;
//                                            the words are the layer's reason
#pragma once

#include "halftone/description/extents.hpp"
#include "halftone/description/kind_form.hpp"

namespace halftone::description {

/// How often a dimension may have a symbol. D112
inline constexpr std::int64_t kMostFactor = 65536;
constexpr bool is_factor(std::int64_t factor) { return factor >= 1 && factor <= kMostFactor; }

/// Of a length that nothing bounds.
inline constexpr std::int64_t kNoMost = std::int64_t{1} << 62;

/// In a refusal: the name of what operand `index` reads.
struct OperandName {
  int index;
};

/// In a refusal: what parts trouble and remedy.
struct Remedy {};
inline constexpr Remedy kRemedy;

/// Of sources, whose shapes are declared.
struct DeclaredShape {
  template <class Node>
  static constexpr void infer(Node&) {}
};

/// Of the extents and of the factors of symbols; 0 where one is not positive.
template <class Node, class Shape>
constexpr std::int64_t count_elements(Node& node, const Shape& shape) {
  std::int64_t count = 1;
  for (int i = 0, rank = node.rank(shape); i < rank; ++i) {
    const auto& dimension = node.at(shape, i);
    const std::int64_t extent =
        node.is_fixed(dimension) ? node.extent(dimension) : node.factor(dimension);
    if (extent == 1) continue;  // compilers count the steps of a check
    // No product of such overflows.
    if (extent > 1 && extent < (1 << 20) && count <= kMostOfShape)
      count *= extent;
    else
      count = extent > 0 ? product_of_extents(count, extent) : 0;
  }
  return count;
}

/// Whether shapes may have so many elements as the result, or a parameter, of a node does. D4
template <class Node, class Shape>
constexpr bool is_countable(Node& node, const Shape& shape) {
  if (count_elements(node, shape) <= kMostOfShape) return true;
  node.refuse("needs more elements than ", node.fixed(kMostOfShape), kRemedy,
              "make its dimensions smaller");
  return false;
}

template <class Node>
constexpr bool has_rows(Node& node, int operand) {
  if (node.rank(node.shape(operand)) > 0) return true;
  node.refuse("reads a scalar but works on rows", kRemedy, "give its input a dimension");
  return false;
}

/// Whether all operands have one shape; `works` and `between` are the words for two that differ.
template <class Node>
constexpr bool are_alike(Node& node, const char* works, const char* between) {
  for (int i = 1; i < node.operands(); ++i) {
    if (node.shape(i) == node.shape(0)) continue;
    node.refuse(works, node.shape(0), between, node.shape(i), " of ", OperandName{i}, kRemedy,
                "make the shapes equal");
    return false;
  }
  return true;
}

/// Whether a sample_weight, if there is one, has a value for every row of operand 0 or, where
/// `elements`, for every element (D70).
template <class Node>
constexpr bool weight_fits(Node& node, bool elements) {
  const int weight = node.operands();
  if (!node.weighs() || (elements && node.shape(weight) == node.shape(0))) return true;
  const bool has_rows = !elements || node.rank(node.shape(0)) > 1;
  if (has_rows && node.shape(weight) == node.rows(node.shape(0))) return true;
  if (!has_rows) {
    node.refuse("weighs ", node.shape(0), " by ", node.shape(weight), " of ", OperandName{weight},
                kRemedy, "make the sample_weight ", node.shape(0));
  } else if (elements) {
    node.refuse("weighs ", node.shape(0), " by ", node.shape(weight), " of ", OperandName{weight},
                kRemedy, "make the sample_weight ", node.rows(node.shape(0)),
                ", a weight for every row, or ", node.shape(0), ", one for every element");
  } else {
    node.refuse("weighs rows of ", node.shape(0), " by ", node.shape(weight), " of ",
                OperandName{weight}, kRemedy, "make the sample_weight ", node.rows(node.shape(0)));
  }
  return false;
}

/// Whether operand 0 has times before its last dimension and `position`, where there is such an
/// operand, a number for each of them.
template <class Node>
constexpr bool has_positions(Node& node, int position) {
  const auto& x = node.shape(0);
  if (node.rank(x) < 2) {
    node.refuse("reads ", x, " but works on sequences", kRemedy,
                "give its input a dimension of times before the last one");
    return false;
  }
  if (node.operands() <= position || node.shape(position) == node.rows(x)) return true;
  node.refuse("reads ", x, " at the positions ", node.shape(position), " of ",
              OperandName{position}, kRemedy, "make them ", node.rows(x));
  return false;
}

/// A function of single elements.
struct ElementwiseShape {
  template <class Node>
  static constexpr void infer(Node& node) {
    node.result(node.shape(0));
  }
};

}  // namespace halftone::description

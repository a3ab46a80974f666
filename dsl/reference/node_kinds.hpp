// SPDX-License-Identifier: Apache-2.0
// Questions about nodes that several parts of the reference ask.
#pragma once

#include <string_view>
#include <vector>

#include "sources.hpp"

namespace halftone::reference {

/// P3
[[nodiscard]] bool belongs_to(description::Kind kind, description::LayerClass layer_class);

/// P20: whether the gradient of operand `wanted` reads operand `read`.
[[nodiscard]] bool gradient_reads(description::Kind kind, std::string_view read,
                                  std::string_view wanted);

/// P82: of an operand of so many dimensions, which the layer multiplies rows by, the dimension that
/// is the columns of the products; -1 of all else.
[[nodiscard]] int columns_of_products(const description::Node& layer, std::string_view operand,
                                      std::size_t dimensions);

/// P39
[[nodiscard]] std::vector<std::string_view> internals_of(description::Kind kind);

/// D17: the operands that are states of the kind's own.
[[nodiscard]] std::vector<std::string_view> kept_by(description::Kind kind);
[[nodiscard]] bool is_kept(description::Kind kind, std::string_view role);

/// P20: whether the gradients read forward's result.
[[nodiscard]] bool gradient_reads_result(description::Kind kind);

/// P88, P89: whether products of the kind multiply their sums by scales of f32, those of whole
/// tensors or of vectors.
[[nodiscard]] bool multiplies_sums(description::Kind kind, bool of_vectors);

inline bool is_loss(const description::Node& node) {
  return belongs_to(node.kind, description::LayerClass::loss);
}

/// D6: whether the loss is computed and nothing more; weights count as f32 (D11).
inline bool is_metric(const description::Loss& loss) {
  return static_cast<float>(loss.weight) == 0.0f;
}

/// P2: whether the node's result is an activation.
inline bool is_layer(const description::Node& node) { return !is_source(node) && !is_loss(node); }

inline const description::ParameterAttributes& attributes_of(const description::Node& node) {
  return std::get<description::ParameterAttributes>(node.attributes);
}

inline bool is_trained(const description::Node& node) {
  return is_parameter(node) && !attributes_of(node).frozen;
}

}  // namespace halftone::reference

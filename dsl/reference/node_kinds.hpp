// SPDX-License-Identifier: Apache-2.0
// Questions about nodes that several parts of the reference ask.
#pragma once

#include "halftone/description/description.hpp"

namespace halftone::reference {

inline bool is_source(const description::Node& node) {
  using description::Kind;
  return node.kind == Kind::input || node.kind == Kind::parameter || node.kind == Kind::state;
}

inline bool is_loss(const description::Node& node) {
  using description::Kind;
  return node.kind == Kind::cross_entropy || node.kind == Kind::mse ||
         node.kind == Kind::pointwise_loss;
}

/// D6: whether the loss is computed and nothing more; weights count as f32 (D11).
inline bool is_metric(const description::Loss& loss) {
  return static_cast<float>(loss.weight) == 0.0f;
}

/// P2: whether the node's result is an activation.
inline bool is_layer(const description::Node& node) { return !is_source(node) && !is_loss(node); }

inline bool is_parameter(const description::Node& node) {
  return node.kind == description::Kind::parameter;
}

inline const description::ParameterAttributes& attributes_of(const description::Node& node) {
  return std::get<description::ParameterAttributes>(node.attributes);
}

inline bool is_trained(const description::Node& node) {
  return is_parameter(node) && !attributes_of(node).frozen;
}

}  // namespace halftone::reference

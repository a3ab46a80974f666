// SPDX-License-Identifier: Apache-2.0
// The precision rules of this folder's tests, read anew from docs/spec/precision.md: rules that are
// everywhere or name classes, and state store or compute. Any other rule throws.
#pragma once

#include <optional>
#include <vector>

#include "halftone/description/description.hpp"

namespace halftone::tests {

/// A model with what every test here asks of it.
class PlainModel {
 public:
  explicit PlainModel(description::Description description);

  [[nodiscard]] const std::vector<description::Node>& nodes() const { return description_.nodes; }
  [[nodiscard]] const description::Description& description() const { return description_; }

  [[nodiscard]] description::Element store(description::NodeId layer) const;
  [[nodiscard]] description::Element compute(description::NodeId layer) const;

  [[nodiscard]] static bool is_loss(description::Kind kind);
  [[nodiscard]] static bool is_layer(description::Kind kind);
  [[nodiscard]] bool is_trained(description::NodeId parameter) const;

  /// Whether a gradient of this layer's result is needed, because trained parameters lie before it
  /// and a loss behind it.
  [[nodiscard]] bool has_gradient(description::NodeId layer) const;

  /// The operands that are activations, inputs or states of format f32, in order.
  [[nodiscard]] std::vector<description::NodeId> operands(description::NodeId node) const;
  [[nodiscard]] std::vector<description::NodeId> parameters(description::NodeId node) const;

  /// Bytes of a value with every symbol bound to `symbol`.
  [[nodiscard]] std::int64_t bytes(description::NodeId node, description::Element format,
                                   std::int64_t symbol) const;

 private:
  description::Description description_;
  std::vector<bool> learns_, is_used_;  // by NodeId
};

[[nodiscard]] const char* word(description::Element format);

}  // namespace halftone::tests

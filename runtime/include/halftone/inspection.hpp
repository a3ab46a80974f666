// SPDX-License-Identifier: Apache-2.0
// The values inside a run, for hooks: activations and gradients of every layer by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halftone {

/// What one operation of a run left, as f32: a layer's own result, then, each an operation of the
/// layer, what roundings make of it for where it is stored and for readers. Before all of them come
/// the parameters that operations read in another format, as the update left them: `layer` is the
/// parameter's name, `op` "parameter", and `before` its master. Views are valid during the call
/// that gets them.
struct InspectedValue {
  std::string_view layer;  ///< "fc1", "h/0/act"; of a rounding by whose name rules select it
  std::string_view op;  ///< "linear", "gelu", ...; a rounding is an operation of its layer: "cast"
  std::string_view pass;  ///< "forward", "input_gradient", "weight_gradient"; of parameters "none"
  std::string_view role;  ///< "activation", "saved", "gradient", "weight_gradient", ...
  std::span<const std::int64_t> shape;  ///< row-major; empty for a scalar
  std::span<const float> values;        ///< gradients are times the loss scale
  /// Of a rounding by a rule or the language's default: what it rounded, as many as `values`, to
  /// which format ("bf16"; with scales all of it: "f8e4m3 scaled tensor f8e8m0 saturate"), and the
  /// rule as the text form spells it, empty for the default. Of all else `before` is empty, and of
  /// inputs that are delivered in another element than f32. Where products multiply codes, or
  /// forward leaves codes for the backward pass alone, these are `values`, and `before` is what
  /// became codes.
  std::span<const float> before = {};
  std::string_view format = {}, rule = {};
};

}  // namespace halftone

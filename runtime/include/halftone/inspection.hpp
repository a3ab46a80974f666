// SPDX-License-Identifier: Apache-2.0
// The values inside a run, for hooks: activations and gradients of every layer by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halftone {

/// What one operation of a run left, as f32: a layer's own result, then, each an operation of the
/// layer, what roundings make of it for where it is stored and for readers. Views are valid during
/// the call that gets them.
struct InspectedValue {
  std::string_view layer;  ///< its name: "fc1", "h/0/act"
  std::string_view op;  ///< "linear", "gelu", ...; a rounding is an operation of its layer: "cast"
  std::string_view pass;  ///< "forward", "input_gradient" or "weight_gradient"
  std::string_view role;  ///< "activation", "saved", "gradient", "weight_gradient", ...
  std::span<const std::int64_t> shape;  ///< row-major; empty for a scalar
  std::span<const float> values;        ///< gradients are times the loss scale
};

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The rules that a Description must keep before anything reads it: D1 to D17, the shapes in the
// table of nodes, which begins with D20, and P40 to P43.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"

namespace halftone::description {

/// One sentence that names the culprit and the remedy, with the label of the rule it breaks.
struct Violation {
  NodeId node = -1;  ///< the node at fault, or -1
  std::string message;
};

/// The first rule that `description` breaks, or nothing when it is valid.
[[nodiscard]] std::optional<Violation> validate(const Description& description);

/// The shape that a node of this kind must have, from its operands' shapes, by the table of nodes;
/// nothing for sources.
[[nodiscard]] std::optional<Shape> infer_shape(const Description& description, const Node& node);

/// What a layer lets a symbol be bound to. D116
struct SizeLimit {
  std::string symbol, node;
  std::int64_t least = 1, most = std::int64_t{1} << 62;
  std::string reason;  ///< "has a padding of 3 at a dimension of side, reflect"
};
/// Those of a sound description, in the order of its nodes.
[[nodiscard]] std::vector<SizeLimit> size_limits(const Description& description);

}  // namespace halftone::description

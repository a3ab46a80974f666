// SPDX-License-Identifier: Apache-2.0
// What the elements of an input of integers choose from: classes of a loss, rows of an embedding,
// few numbers where they mask keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "halftone/description/description.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone::tests {

/// The least number that is too large for some reader of `input`, or for the input itself.
inline std::int32_t integer_bound(const description::Description& model,
                                  const std::map<std::string, std::int64_t>& symbols,
                                  description::NodeId input) {
  const encoding::ElementTraits& traits =
      encoding::traits(model.nodes[static_cast<std::size_t>(input)].format);
  const int bits = std::min(31, traits.bits - (traits.has_sign ? 1 : 0));
  std::int64_t bound =
      std::min<std::int64_t>(std::int64_t{1} << bits, std::numeric_limits<std::int32_t>::max());
  const auto shape = [&](const description::Operand& operand) -> const description::Shape& {
    return model.nodes[static_cast<std::size_t>(operand.node)].shape;
  };
  const auto extent = [&](const description::Dimension& dimension) {
    return dimension.symbol.empty()
               ? dimension.extent
               : dimension.factor * symbols.at(dimension.symbol) + dimension.extent;
  };
  for (const description::Node& node : model.nodes) {
    for (const description::Operand& operand : node.operands) {
      if (operand.node != input) continue;
      if (operand.role == "label") bound = std::min(bound, extent(shape(node.operands[0]).back()));
      if (operand.role == "length") {
        const description::Shape& keys = shape(node.operands[1]);
        bound = std::min(bound, extent(keys[keys.size() - 2]) + 2);  // one more than there are
      }
      if (operand.role == "key_mask") bound = std::min<std::int64_t>(bound, 2);
      if (operand.role == "segment") bound = std::min<std::int64_t>(bound, 3);
      if (operand.role == "token") bound = std::min(bound, extent(shape(node.operands[1]).front()));
    }
  }
  return static_cast<std::int32_t>(bound);
}

}  // namespace halftone::tests

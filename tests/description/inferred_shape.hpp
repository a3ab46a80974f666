// SPDX-License-Identifier: Apache-2.0
// The shape that a node has by its kind's rule, and settings of the kinds whose rules read them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builder.hpp"
#include "halftone/description/validate.hpp"

namespace halftone::tests {

inline const Dimension kBatch = symbol("batch"), kTime = symbol("time");

/// The shape of a node of `kind` whose operands have these roles and shapes.
inline std::optional<Shape> inferred(Kind kind,
                                     const std::vector<std::pair<std::string, Shape>>& operands,
                                     Attributes attributes = {}) {
  Builder b;
  Node node;
  node.kind = kind;
  node.attributes = std::move(attributes);
  for (const auto& [role, shape] : operands) node.operands.push_back({role, b.input(role, shape)});
  return infer_shape(b.description, node);
}

using Lists = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// Settings of windows; groups are stated where they are more than one, output_padding where it is
/// not empty.
inline LayerAttributes window_settings(const Lists& lists, std::int64_t groups = 1,
                                       std::vector<std::int64_t> output_padding = {}) {
  LayerAttributes attributes;
  for (const auto& [name, numbers] : lists) attributes.settings.push_back({name, numbers});
  if (groups != 1) attributes.settings.push_back({"groups", groups});
  if (!output_padding.empty())
    attributes.settings.push_back({"output_padding", std::move(output_padding)});
  return attributes;
}

/// Settings of a pool.
inline LayerAttributes pool_settings(const Lists& lists, const std::string& function = "max",
                                     bool count_include_pad = false) {
  LayerAttributes attributes = window_settings(lists);
  attributes.settings.push_back({"function", function});
  if (count_include_pad) attributes.settings.push_back({"count_include_pad", true});
  return attributes;
}

inline LayerAttributes upsample_settings(std::vector<std::int64_t> factor) {
  return {{{"factor", std::move(factor)}, {"mode", "linear"}}, {}};
}

inline LayerAttributes adaptive_settings(std::vector<std::int64_t> size) {
  return {{{"size", std::move(size)}, {"function", "average"}}, {}};
}

inline LayerAttributes pad_settings(std::vector<std::int64_t> padding, const std::string& mode,
                                    std::optional<double> value = {}) {
  LayerAttributes attributes{{{"padding", std::move(padding)}, {"mode", mode}}, {}};
  if (value) attributes.settings.push_back({"pad_value", *value});
  return attributes;
}

inline LayerAttributes shuffle_settings(std::vector<std::int64_t> factor, bool inverse = false) {
  LayerAttributes attributes{{{"factor", std::move(factor)}}, {}};
  if (inverse) attributes.settings.push_back({"inverse", true});
  return attributes;
}

inline LayerAttributes segment_settings(std::int64_t segments,
                                        const std::string& function = "sum") {
  return {{{"segments", segments}, {"function", function}}, {}};
}

}  // namespace halftone::tests

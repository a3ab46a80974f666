// SPDX-License-Identifier: Apache-2.0
// Bounds of every tensor of a graph of primitives, one for all of its elements.
#ifndef HALFTONE_AUDIT_GRAPHBOUNDS_H
#define HALFTONE_AUDIT_GRAPHBOUNDS_H

#include <optional>
#include <set>
#include <string>

#include "codegen/audit/Ranges.h"
#include "codegen/audit/ScalarCode.h"

namespace halftone::audit {

/// What is known of a value that rules speak of, or of a loss.
struct Audited {
  std::string name, layer; ///< as explain names them
  ir::ValueRole role = ir::ValueRole::Activation;
  bool isLoss = false;
  encoding::Encoding encoding; ///< that it is held in
  std::int64_t rule = -1;      ///< which decided that, from 0 on; -1 for the default
  Bound before, after;         ///< its last rounding
  /// What that rounding adds at most.
  double rounding = 0;
  bool mayOverflow = false, maySaturate = false;
};

/// What may leave the range of f32, or of the format of an internal value, inside of a layer.
struct Inside {
  std::string layer, label;
  bool isOfFormat = false;
};

/// What a graph's values are, in the order in which it computes them.
struct GraphBounds {
  std::vector<Audited> values;
  std::vector<Inside> overflows;
  /// Layers whose deviation is bounded by epsilon alone, with how many times that enlarges errors.
  std::vector<std::pair<std::string, double>> normalizations;
  /// Of names in the ranges, those that the graph has.
  std::set<std::string> used;
};

/// Rules whose roundings are left out, to say what they cost.
using LeftOut = std::optional<std::int64_t>;

/// Fails with one sentence where an input or a state has no range.
struct GraphFailure {
  std::string sentence;
};
std::variant<GraphBounds, GraphFailure> boundGraph(ir::GraphOp graph, const Ranges &ranges,
                                                   const ir::AssumedSizes &sizes, double unit,
                                                   LeftOut leftOut = {});

} // namespace halftone::audit

#endif

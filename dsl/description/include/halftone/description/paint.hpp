// SPDX-License-Identifier: Apache-2.0
// From four lists of kinds to a rule for every layer and loss, by painting the graph (P64).
#pragma once

#include "halftone/description/description.hpp"
#include "halftone/description/rule_meaning.hpp"

namespace halftone::description {

/// What a node is painted, and why: a sentence that names the neighbours which decided.
struct Paint {
  enum class Colour : std::uint8_t { allow, deny, bare } colour = Colour::bare;
  std::string because;
};

/// One for every node; inputs, parameters and states stay bare. Of TensorFlow's
/// auto_mixed_precision.cc: the steps in their order.
std::vector<Paint> paint(const Description& description, const rules::PaintLists& lists);

/// For each layer or loss a rule by its name: what is allowed computes and stores in `half`, all
/// else in f32; `because` says why.
std::vector<Rule> paint_rules(const Description& description, const rules::PaintLists& lists,
                              Element half);

}  // namespace halftone::description

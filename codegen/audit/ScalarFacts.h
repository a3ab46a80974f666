// SPDX-License-Identifier: Apache-2.0
// Arithmetic of nodes: that of their bounds, limited by what is known of how operands were made
// (Fact).
#ifndef HALFTONE_AUDIT_SCALARFACTS_H
#define HALFTONE_AUDIT_SCALARFACTS_H

#include <optional>

#include "codegen/audit/ScalarCode.h"

namespace halftone::audit {

/// By the ids of their operands.
struct ScalarFacts {
  const ScalarCode &code;
  const Place &place;

  Node add(int a, int b) const;
  Node subtract(int a, int b) const;
  Node multiply(int a, int b) const;
  Node divide(int a, int b) const;
  Node root(int a) const;
  Node exponential(int a, bool narrow) const;
  Node logarithm(int a) const;
  Node sumOfRow(int a) const;
  Node select(int condition, int a, int b) const;
  Node compare(mlir::arith::CmpFPredicate predicate, int a, int b) const;

  /// Of a sum of that many integers, where f32 has it exactly.
  static std::optional<Node> wholeSum(const Node &each, double count);

  /// What rounding `from` to an encoding leaves of what is known of its row's sums.
  void roundSums(Node &node, int from, const encoding::Encoding &to) const;

  /// Of what is added up over `count` elements of a column.
  Node sumOfColumn(int a, double count) const;

private:
  const Node &at(int id) const { return code[id]; }
  /// Of weights of a softmax over this domain's rows: how far each is off, as a share of itself.
  double offOfWeights(int logits) const;
  Node normalized(int d, int reciprocal) const;
  bool isPickedColumn(int a) const;
};

} // namespace halftone::audit

#endif

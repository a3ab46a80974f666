// SPDX-License-Identifier: Apache-2.0
// Bounds of scalar code. Every number that a body computes is a node, equal ones of equal operands
// the same, whichever body they are in; so that what intervals cannot know of a number by itself is
// read off how it was made: x - max x is never above 0, d / sqrt(Σd²/n) never above sqrt(n), the
// weights of a softmax add up to 1.
#ifndef HALFTONE_AUDIT_SCALARCODE_H
#define HALFTONE_AUDIT_SCALARCODE_H

#include <map>
#include <vector>

#include "codegen/audit/Bound.h"
#include "codegen/ir/Dialect.h"
#include "codegen/plan/AssumedSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace halftone::audit {

/// What is known of how a number was made. `of` is the node that it says something about.
enum class Fact {
  none,
  square,         ///< of `of`
  squares,        ///< a sum of `number` squares of `of`, divided by `divisor`, a constant added
  deviation,      ///< the root of that
  perDeviation,   ///< 1 / that
  belowMaximum,   ///< `of` - its row's maximum
  exponential,    ///< exp of that; +0 where it is masked
  exponentials,   ///< the row's sum of those; +0 of a row that is masked as a whole
  perExponentials ///< 1 / that, or +0
};

/// What a sum goes over.
enum class Along { neither, row, column };

struct Node {
  Node() = default;
  explicit Node(const Bound &bound) : bound(bound) {}

  Bound bound; ///< of an integer its values; of a condition nothing
  mlir::Operation *op = nullptr;
  llvm::SmallVector<int, 3> operands;

  Fact fact = Fact::none;
  int of = -1;
  double number = 1, divisor = 1;
  Along along = Along::neither; ///< of squares
  bool isMasked = false;
  bool isWhole = false; ///< an integer, which no rounding moves
  /// The sum of |x|, and of its error, over a row, or over all elements of a column.
  double sumOfRow = kInfinity, errorOfRow = kInfinity, sumOfColumn = kInfinity;

  // Of conditions:
  bool canHold = true, canFail = true;
  bool mayDiffer = false; ///< whether declared numbers may decide otherwise than exact ones
};

/// Where code runs, and what is assumed there.
struct Place {
  ir::TensorType domain;
  /// The least deviation that a normalization divides by, 0 where nothing is known.
  double leastDeviation = 0;
  /// Which have an element inside, wherever that is.
  bool hasWindows = false;
};

class ScalarCode {
public:
  explicit ScalarCode(const ir::AssumedSizes &sizes) : sizes(sizes) {}

  const Node &operator[](int id) const { return nodes[id]; }
  Node &edit(int id) { return nodes[id]; }
  int add(Node node);
  /// The node that is made of `from` as `how` says, added where there is none.
  int once(int from, const void *how, const void *where, llvm::function_ref<Node()> make);

  /// The nodes that the block yields, of its arguments' nodes.
  llvm::SmallVector<int> evaluate(mlir::Block &block, llvm::ArrayRef<int> arguments,
                                  const Place &place);

  /// The product of dimensions, symbols as assumed.
  double count(llvm::ArrayRef<mlir::Attribute> dims) const;

  /// What internal values (P39) that may leave the range of their format belong to, by operation.
  std::vector<mlir::Operation *> overflows;

private:
  using Key = std::vector<const void *>;
  struct Bodies;
  int visit(mlir::Operation &op, llvm::ArrayRef<int> operands, const Place &place);

  const ir::AssumedSizes &sizes;
  std::vector<Node> nodes;
  std::map<Key, int> known;
};

/// The most additions from any of `count` numbers to their sum by the row tree N2.
double depthOfRow(double count);
/// Likewise by the column tree N3, of chunks added one by one, too.
double depthOfColumn(double count);

} // namespace halftone::audit

#endif

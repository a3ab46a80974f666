// SPDX-License-Identifier: Apache-2.0
// What an attention reduced of its rows, for its gradient, which would reduce the same again.
#ifndef HALFTONE_PASSES_KEPTREDUCTIONS_H
#define HALFTONE_PASSES_KEPTREDUCTIONS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Of each of these reductions in the code of `rows`, a map whose first operand is a product: where
/// an attention that JoinProducts marked, before it in the graph, reduces the same code of equal
/// operands, its results for all rows, which it gives from then on; elsewhere null. So forward's
/// maximum and sum of a softmax serve the gradient, unless rules round what either reads otherwise.
llvm::SmallVector<mlir::Value> keepReductions(MapOp rows, llvm::ArrayRef<mlir::Value> reductions);

} // namespace halftone::ir

#endif

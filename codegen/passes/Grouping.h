// SPDX-License-Identifier: Apache-2.0
// Which operations of a graph become one kernel: the decision, apart from the building in
// FormKernels.cpp.
#ifndef HALFTONE_PASSES_GROUPING_H
#define HALFTONE_PASSES_GROUPING_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Operations that become one kernel, in program order.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops;
  Phase phase;
  Skeleton skeleton;
  llvm::SmallVector<mlir::Attribute>
      domain; ///< ends in a number: a trailing symbol gets an extra 1
  bool hasFinish = false;

  bool contains(mlir::Operation *op) const { return llvm::is_contained(ops, op); }
};

/// How the group's kernel addresses a result of one of its operations.
AccessAttr getResultAccessIn(const KernelGroup &group, mlir::OpResult result);

/// A domain that ends in a number of columns.
llvm::SmallVector<mlir::Attribute> normaliseDomain(TensorType domain);

/// Whether every user computes `op` inside its own kernel: it was marked so, or it only combines
/// scalars.
bool isInlined(mlir::Operation *op);

/// The groups of `graph` in an order of execution.
std::vector<KernelGroup> groupOperations(GraphOp graph);

} // namespace halftone::ir

#endif

// SPDX-License-Identifier: Apache-2.0
// Which operations of a graph become one kernel: the decision, apart from the building in
// KernelBuilder.cpp.
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
  int scalars = 0; ///< operations of the body, about

  bool contains(mlir::Operation *op) const { return llvm::is_contained(ops, op); }
};

/// How the group's kernel addresses a result of one of its operations.
AccessAttr getResultAccessIn(const KernelGroup &group, mlir::OpResult result);

/// A domain that ends in a number of columns.
llvm::SmallVector<mlir::Attribute> normaliseDomain(TensorType domain);

/// Whether every user computes `op` inside its own kernel: it was marked so, or it only combines
/// scalars.
bool isInlined(mlir::Operation *op);

/// The value under the exact casts that are computed where `value` is read.
mlir::Value getBeforeWidening(mlir::Value value);

/// Whether an operation or a sink outside of the group reads `value`, be it through operations that
/// are computed where they are read.
bool isReadOutside(mlir::Value value, const KernelGroup &group);

/// The groups of `graph` in an order of execution; without `fuse` every operation that is not
/// inlined is a group of its own.
std::vector<KernelGroup> groupOperations(GraphOp graph, bool fuse);

} // namespace halftone::ir

#endif

// SPDX-License-Identifier: Apache-2.0
// From which kernel to which the tensors of a graph are in use that live inside of a step, and how
// many bytes the slots take that they share (PlanMemory).
#ifndef HALFTONE_PASSES_LIFETIMES_H
#define HALFTONE_PASSES_LIFETIMES_H

#include "codegen/ir/Dialect.h"
#include "codegen/plan/AssumedSizes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace halftone::ir {

/// Of so many tensors, the largest first: the slot of each, which is the first one whose tenants it
/// does not meet.
llvm::SmallVector<int64_t> firstFreeSlots(size_t tensors,
                                          llvm::function_ref<bool(size_t, size_t)> meet);

class Lifetimes {
public:
  struct Span {
    int64_t bytes = 0, first = 0, last = 0; ///< kernels, in their order
  };

  /// Of a graph of kernels, at the sizes that are assumed.
  Lifetimes(GraphOp graph, const AssumedSizes &sizes);

  /// What lies where `value` does, as views and parts do; null where that outlives the step.
  Span *find(mlir::Value value);
  void erase(mlir::Value value) { spans.erase(rootOf(value)); }
  int64_t bytesOf(TensorType type) const;
  /// Of all slots, where the largest come first, each into the first slot that is free.
  int64_t countBytes() const;

private:
  static mlir::Value rootOf(mlir::Value value);

  const AssumedSizes &sizes;
  llvm::MapVector<mlir::Value, Span> spans;
};

} // namespace halftone::ir

#endif

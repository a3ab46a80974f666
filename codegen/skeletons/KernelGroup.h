// SPDX-License-Identifier: Apache-2.0
// Operations that become one kernel, and what skeletons ask of them to decide who joins.
#ifndef HALFTONE_SKELETONS_KERNELGROUP_H
#define HALFTONE_SKELETONS_KERNELGROUP_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::ir {

/// In program order.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops;
  Phase phase;
  const skeletons::Skeleton *skeleton;
  llvm::SmallVector<mlir::Attribute> domain; ///< not empty
  bool hasFinish = false, readsByGeneralAccess = false;
  int scalars = 0; ///< operations of the body, about

  /// The section that its operations run in, by chunks (D74) or parts, or null.
  mlir::Attribute getSection() const { return ops.front()->getAttr(kSectionAttr); }
  bool contains(mlir::Operation *op) const { return llvm::is_contained(ops, op); }
};

/// The domain of a kernel: that of a scalar has one column.
llvm::SmallVector<mlir::Attribute> normaliseDomain(TensorType domain);

bool hasSameDomain(KernelForm op, const KernelGroup &group);

/// How the group's kernel addresses a result of one of its operations.
AccessAttr getResultAccessIn(const KernelGroup &group, mlir::OpResult result);

/// Values that pass from one operation to another inside a kernel stay in registers: both must mean
/// the same element. What a finish computes is there only after the kernel.
bool accessesAgree(KernelForm op, const KernelGroup &group);

/// Set by RideMaxima on a reduce with a finish: in place of a sum it wants the largest of what
/// `each` yields, which are magnitudes, and a NaN where one is. It is in the kernel of a
/// contraction.
inline constexpr llvm::StringLiteral kMaximumAttr = "halftone.maximum";

/// P21, of a contraction as rules resolved it; of any other operation F32.
Accumulation accumulationOf(mlir::Operation *op);

/// Whether `op` reads an operand by a general access.
bool readsByGeneralAccess(KernelForm op);

/// Whether the operation reads another operand through the integers of operand `number`.
bool isIndex(KernelForm op, unsigned number);

/// Whether every user computes `op` inside its own kernel: it was marked so, or it only combines
/// scalars.
bool isInlined(mlir::Operation *op);

/// Whether it is computed, where it is inlined, for whatever element its user reads: an exact cast,
/// or masters that are put together of two halves (P69).
bool isForAnyAccess(mlir::Operation *op);

/// The value under the exact casts that are computed where `value` is read.
mlir::Value getBeforeWidening(mlir::Value value);

/// Whether an operation or a sink outside of the group reads `value`, be it through operations that
/// are computed where they are read.
bool isReadOutside(mlir::Value value, const KernelGroup &group);

} // namespace halftone::ir

#endif

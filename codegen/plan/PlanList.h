// SPDX-License-Identifier: Apache-2.0
// The plans that a kernel can have on a chip, best first by the cost model. Skeletons add them.
#ifndef HALFTONE_PLAN_PLANLIST_H
#define HALFTONE_PLAN_PLANLIST_H

#include "codegen/ir/Dialect.h"
#include "codegen/plan/AssumedSizes.h"
#include "codegen/plan/CostModel.h"

namespace halftone::ir {

/// How long a plan takes that PlanList made, by the cost model.
double microsecondsOf(CudaPlanAttr plan);

class PlanList {
public:
  PlanList(KernelOp kernel, const Chip &chip, const AssumedSizes &assumed);

  KernelOp kernel;
  const Chip &chip;
  Problem problem; ///< rows, columns, bytes, operations; depth and elementBytes are a contraction's
  std::string reason;       ///< why no plan is for tensor cores, or nothing
  std::string noWarpgroups; ///< likewise why none is for wgmma, where the chip has that
  std::string noEightBits;  ///< likewise why none multiplies 8 bits, where rules let one (N13, N14)

  /// The product of the dimensions with symbols as assumed.
  double extent(llvm::ArrayRef<mlir::Attribute> dims) const;

  void add(CudaPlanKind kind, llvm::ArrayRef<int64_t> tile, int64_t splits, int64_t least,
           const Estimate &estimate);
  bool empty() const { return plans.empty(); }

  ChipPlansAttr take();

private:
  const AssumedSizes &assumed;
  llvm::SmallVector<CudaPlanAttr> plans;
};

} // namespace halftone::ir

#endif

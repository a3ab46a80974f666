// SPDX-License-Identifier: Apache-2.0
// The ways in which chips run contractions, each with tiles, launch, cost and text of its own.
#ifndef HALFTONE_SKELETONS_CONTRACTION_PLANFORM_H
#define HALFTONE_SKELETONS_CONTRACTION_PLANFORM_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class PlanForm {
public:
  virtual ~PlanForm() = default;

  /// Why the chip runs the kernel in no such way; empty where it does.
  virtual std::string whyNot(const ir::PlanList &plans) const = 0;
  /// Adds the tiles that fit the chip.
  virtual void addPlans(ir::PlanList &plans) const = 0;
  virtual mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const = 0;
  /// "warps 32x32, 3 stages" behind the tile's extents, for people.
  virtual std::string describe(CudaPlanAttr) const { return {}; }
  /// The file and namespace of kernels/.
  virtual llvm::StringRef getDeviceName() const = 0;
  /// What its Body has beyond that of every contraction.
  virtual void addTo(ir::BodyForm &, KernelOp, CudaPlanAttr) const {}
};

const PlanForm &simtForm();
const PlanForm &tensorForm();

/// Of a batch every element's; blocks of rows and of columns, the columns' fastest.
llvm::SmallVector<Axis> getTileAxes(KernelOp kernel, int64_t rows, int64_t columns);

} // namespace halftone::skeletons

#endif

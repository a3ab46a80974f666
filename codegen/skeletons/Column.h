// SPDX-License-Identifier: Apache-2.0
// Column kernels: sums over rows (N3), chains down the rows, of all rows or for each element of a
// batch.
#ifndef HALFTONE_SKELETONS_COLUMN_H
#define HALFTONE_SKELETONS_COLUMN_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class Column final : public Skeleton {
public:
  Column();

  mlir::LogicalResult verify(KernelOp kernel) const override;
  bool joinsProducer(KernelForm op, const KernelGroup &group) const override;
  bool joinsSibling(KernelForm op, const KernelGroup &group) const override;
  Tile getDefaultCpuTile(KernelOp kernel) const override;
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  llvm::StringRef getDeviceName(KernelOp kernel, CudaPlanAttr plan) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

} // namespace halftone::skeletons

#endif

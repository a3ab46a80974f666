// SPDX-License-Identifier: Apache-2.0
// Row kernels: reductions over each row (N2), in stages where one needs results of another, then
// the elements; and a sum over what the rows give (N4).
#ifndef HALFTONE_SKELETONS_ROW_H
#define HALFTONE_SKELETONS_ROW_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class Row final : public Skeleton {
public:
  Row();

  bool joinsProducer(KernelForm op, const KernelGroup &group) const override;
  Dims getSummands(KernelOp kernel) const override;
  Tile getDefaultCpuTile(KernelOp kernel) const override;
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::Value buildSum(cpu::Code &code, cpu::Frame &frame) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  std::string describePlan(CudaPlanAttr plan, const Launch &launch) const override;
  llvm::StringRef getDeviceName(KernelOp kernel, CudaPlanAttr plan) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

} // namespace halftone::skeletons

#endif

// SPDX-License-Identifier: Apache-2.0
// Segment kernels: every row of the result is one chain of additions, or of maxima, over those rows
// of the domain that name it, ascending (D53, D93), of all rows or for each element of a batch. A
// task or block owns some rows and columns of the result and goes through all rows of the domain,
// or of its element, so that no two add to one element.
#ifndef HALFTONE_SKELETONS_SEGMENT_H
#define HALFTONE_SKELETONS_SEGMENT_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class Segment : public Skeleton {
public:
  explicit Segment(ir::Skeleton word = ir::Skeleton::Segment);

  mlir::LogicalResult verify(KernelOp kernel) const override;
  Tile getDefaultCpuTile(KernelOp kernel) const override;
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  llvm::StringRef getDeviceName(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  std::string getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

class SegmentMax final : public Segment {
public:
  SegmentMax() : Segment(ir::Skeleton::SegmentMax) {}
};

} // namespace halftone::skeletons

#endif

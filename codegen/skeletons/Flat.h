// SPDX-License-Identifier: Apache-2.0
// Flat kernels: one sum over all elements in row-major order (N4), and a scalar program behind it.
#ifndef HALFTONE_SKELETONS_FLAT_H
#define HALFTONE_SKELETONS_FLAT_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class Flat final : public Skeleton {
public:
  Flat();

  bool joinsProducer(KernelForm op, const KernelGroup &group) const override;
  bool isOneRow(KernelOp kernel) const override { return ignoresRows(kernel); }
  Dims getSummands(KernelOp kernel) const override;
  Tile getDefaultCpuTile(KernelOp kernel) const override;
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  mlir::LogicalResult verify(KernelOp kernel) const override;
  mlir::LogicalResult verifyCpu(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::Value buildSum(cpu::Code &code, cpu::Frame &frame) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

} // namespace halftone::skeletons

#endif

// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: no element depends on another.
#ifndef HALFTONE_SKELETONS_POINTWISE_H
#define HALFTONE_SKELETONS_POINTWISE_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

/// As transposed_codes.cuh has them: rows and columns of a block of codes, and its threads.
inline constexpr int64_t kTurnedTile = 128, kTurnedThreads = 256;

class Pointwise final : public Skeleton {
public:
  Pointwise();

  bool joinsProducer(KernelForm op, const KernelGroup &group) const override;
  bool isOneRow(KernelOp kernel) const override { return ignoresRows(kernel); }
  llvm::StringRef getDeviceName(KernelOp kernel, CudaPlanAttr plan) const override;
  Tile getDefaultCpuTile(KernelOp kernel) const override;
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

} // namespace halftone::skeletons

#endif

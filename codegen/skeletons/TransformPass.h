// SPDX-License-Identifier: Apache-2.0
// Some of the stages of a transform, or of its inverse, on chips (docs/decisions/0057): a block has
// pieces of one sequence's spectrum, places that these stages join with one another alone, in
// shared memory. What the stages of two passes compute is Z2 and Z3 of docs/spec/math.md.
#ifndef HALFTONE_SKELETONS_TRANSFORMPASS_H
#define HALFTONE_SKELETONS_TRANSFORMPASS_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

/// What both directions share. A tile is threads, channels and pieces of a block.
class PassOfStages : public Skeleton {
public:
  using Skeleton::Skeleton;

  Tile getDefaultCpuTile(KernelOp) const override { return {1}; }
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  mlir::LogicalResult verifyCpu(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  std::string describePlan(CudaPlanAttr plan, const Launch &launch) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

class TransformPass final : public PassOfStages {
public:
  TransformPass();
};

class InverseTransformPass final : public PassOfStages {
public:
  InverseTransformPass();

  bool joinsProducer(KernelForm op, const KernelGroup &group) const override;
};

/// Both with a product of spectra between them (Z4).
class ProductPass : public PassOfStages {
public:
  using PassOfStages::PassOfStages;

  /// Asks for one factor.
  mlir::LogicalResult verify(KernelOp kernel) const override;
  llvm::StringRef getDeviceName(KernelOp, CudaPlanAttr) const override {
    return "convolution_pass";
  }
};

class ConvolutionPass final : public ProductPass {
public:
  ConvolutionPass();
};

/// With the conjugate of the other spectrum.
class CorrelationPass final : public ProductPass {
public:
  CorrelationPass();
};

} // namespace halftone::skeletons

#endif

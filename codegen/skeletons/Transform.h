// SPDX-License-Identifier: Apache-2.0
// Transform kernels: spectra of sequences and back (Z2, Z3 of docs/spec/math.md). A task has a
// sequence's block of channels. Two stages of butterflies are one pass over its places, from the
// largest part of the spectrum to the smallest, or back: what a part holds stays in the cache that
// it fits.
#ifndef HALFTONE_SKELETONS_TRANSFORM_H
#define HALFTONE_SKELETONS_TRANSFORM_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

/// Of an inverse transform: a product of spectra, which nothing else reads, is computed where its
/// elements are read.
bool joinsProductOfSpectra(KernelForm op, const KernelGroup &group);

/// What both directions share.
class TransformOfBlocks : public Skeleton {
public:
  using Skeleton::Skeleton;

  Tile getDefaultCpuTile(KernelOp) const override { return {1}; }
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

class Transform final : public TransformOfBlocks {
public:
  Transform();

  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
};

class InverseTransform final : public TransformOfBlocks {
public:
  InverseTransform();

  bool joinsProducer(KernelForm op, const KernelGroup &group) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;
};

} // namespace halftone::skeletons

#endif

// SPDX-License-Identifier: Apache-2.0
// Attention: batched products, a map over the rows of what they give, and its product with values,
// whose scores lie in no memory (docs/decisions/0027). On chips with tensor cores alone.
#ifndef HALFTONE_SKELETONS_ATTENTION_H
#define HALFTONE_SKELETONS_ATTENTION_H

#include "codegen/skeletons/Skeleton.h"

namespace halftone::skeletons {

class Attention final : public Skeleton {
public:
  Attention();

  mlir::LogicalResult verify(KernelOp kernel) const override;
  Tile getDefaultCpuTile(KernelOp) const override { return {}; }
  llvm::SmallVector<Axis> getTaskAxes(KernelOp kernel) const override;
  mlir::LogicalResult verifyCpu(KernelOp kernel) const override;
  void buildTasks(cpu::Code &code, cpu::Frame &frame, mlir::Value first,
                  mlir::Value last) const override;

  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  std::string describePlan(CudaPlanAttr plan, const Launch &launch) const override;
  std::string getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const override;
  int64_t getResidentBlocks(int64_t threads) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

/// A product that the kernel has: of lhs and rhs, or of weights and values.
struct AttentionProduct {
  mlir::Type lhs, rhs;   ///< elements
  ir::TensorType matrix; ///< rhs: its columns are those of a head
};

/// Why no chip runs two such products in one kernel; empty where some do.
std::string whyNotAttention(const AttentionProduct &scores, const AttentionProduct &mixed);
/// Likewise, one chip.
std::string whyNotAttentionOn(llvm::StringRef chip, const AttentionProduct &scores,
                              const AttentionProduct &mixed);

} // namespace halftone::skeletons

#endif

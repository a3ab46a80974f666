// SPDX-License-Identifier: Apache-2.0
// The other kernel of attention's gradient: of the same two products, a map that reads what was
// reduced of rows, and the products of what it makes, transposed, with queries and with the
// gradient that arrives, for each block of keys (docs/decisions/0027).
#ifndef HALFTONE_SKELETONS_ATTENTION_ATTENTIONCOLUMNS_H
#define HALFTONE_SKELETONS_ATTENTION_ATTENTIONCOLUMNS_H

#include "codegen/skeletons/attention/Attention.h"

namespace halftone::skeletons {

class AttentionColumns final : public Attention {
public:
  AttentionColumns();

  mlir::LogicalResult verify(KernelOp kernel) const override;
  mlir::FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override;
  void addPlans(ir::PlanList &plans) const override;
  std::string describePlan(CudaPlanAttr plan, const Launch &launch) const override;
  ir::BodyForm getBodyForm(KernelOp kernel, CudaPlanAttr plan) const override;

protected:
  Tile getDefaultCudaTile(KernelOp kernel) const override;
};

/// Of a row in shared memory what all columns are computed with: at least as much as kernels take.
int64_t bytesOfKnownRow(KernelOp kernel);

} // namespace halftone::skeletons

#endif

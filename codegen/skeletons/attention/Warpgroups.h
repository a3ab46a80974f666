// SPDX-License-Identifier: Apache-2.0
// Attention's kernels by warp groups (sm_90a): wgmma from shared memory that tensor copies fill,
// and from registers (docs/decisions/0035). Of a kernel that Attention::verify accepts.
#ifndef HALFTONE_SKELETONS_ATTENTION_WARPGROUPS_H
#define HALFTONE_SKELETONS_ATTENTION_WARPGROUPS_H

#include "codegen/plan/CostModel.h"
#include "codegen/skeletons/Skeleton.h"

namespace halftone::ir {
class BodyPrinter;
} // namespace halftone::ir

namespace halftone::skeletons {

inline bool isByWarpgroups(CudaPlanAttr plan) {
  return plan.getKind() == ir::CudaPlanKind::Warpgroup;
}

/// Adds the tiles that fit the chip, each at the cost of `problem`.
void addWarpgroupPlans(ir::PlanList &plans, const ir::Problem &problem);

mlir::FailureOr<Launch> getWarpgroupLaunch(KernelOp kernel, CudaPlanAttr plan);

/// "tensor 128 rows, 64 keys at a time, warp groups, 4 slots", for people: a block's own lines, and
/// what it goes over.
std::string describeWarpgroups(CudaPlanAttr plan, llvm::StringRef lines, llvm::StringRef others);

/// Template arguments of the device's Tile.
std::string getWarpgroupTile(KernelOp kernel, CudaPlanAttr plan);

/// What run() is given behind the body: a tensor map for each operand of a product.
std::string getWarpgroupArguments(KernelOp kernel);

/// Where a tensor copy finds an operand's lines, and where pairs of sums go.
void printWarpgroupMembers(ir::BodyPrinter &printer);

} // namespace halftone::skeletons

#endif

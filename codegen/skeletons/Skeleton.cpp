// SPDX-License-Identifier: Apache-2.0
// What skeletons share.
#include "codegen/skeletons/Skeleton.h"

#include <cmath>

#include "codegen/plan/PlanList.h"

using namespace mlir;

namespace halftone::skeletons {

ir::AccessAttr Skeleton::getResultAccess(OpResult result) const {
  return cast<KernelForm>(result.getOwner()).getResultAccesses()[result.getResultNumber()];
}

LogicalResult Skeleton::verify(KernelOp kernel) const {
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.getInputAccess(i).getKind() == AccessKind::General && !facts.readsByAnyMap)
      return kernel.emitOpError() << "reads operand " << i << " by a general access, as no "
                                  << name() << " kernel can: let a pointwise kernel read it first";
  return success();
}

CudaPlanAttr Skeleton::getDefaultPlan(KernelOp kernel) const {
  std::optional<ArrayRef<int64_t>> byHand = kernel.getCudaTile();
  Tile tile = byHand ? Tile(*byHand) : getDefaultCudaTile(kernel);
  return CudaPlanAttr::get(kernel.getContext(), ir::CudaPlanKind::Simt, tile, 1, 1,
                           DenseF64ArrayAttr::get(kernel.getContext(), {0, 0, 0, 0}));
}

void Skeleton::addPlans(ir::PlanList &plans) const {
  CudaPlanAttr plan = getDefaultPlan(plans.kernel);
  FailureOr<Launch> launch = getLaunch(plans.kernel, plan);
  if (failed(launch))
    return;
  double blocks = 1;
  for (const Axis &axis : launch->axes)
    blocks *= std::ceil(plans.extent(axis.extent) / static_cast<double>(axis.tile));
  plans.add(
      plan.getKind(), plan.getTile(), 1, 1,
      estimateElements(plans.chip, plans.problem, blocks, static_cast<double>(launch->threads)));
}

std::string Skeleton::describePlan(CudaPlanAttr, const Launch &launch) const {
  return std::to_string(launch.threads) + " threads";
}

std::string Skeleton::getPlanArguments(KernelOp, CudaPlanAttr plan) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(plan.getTile(), stream);
  return text;
}

/// Left to itself, ptxas spilled for the sake of four blocks of 512 threads.
int64_t Skeleton::getResidentBlocks(int64_t threads) const {
  return threads >= 512 ? 1024 / threads : 0;
}

bool isWarps(int64_t threads) { return threads > 0 && threads % kWarp == 0 && threads <= 1024; }

LogicalResult refuseTile(KernelOp kernel) {
  return kernel.emitOpError(
      "cuda_tile fits no launch of its skeleton; leave it to halftone-plan-tiles");
}

bool ignoresRows(KernelOp kernel) {
  auto fits = [](Attribute access) {
    AccessKind kind = cast<ir::AccessAttr>(access).getKind();
    return kind == AccessKind::Full || kind == AccessKind::Scalar;
  };
  return llvm::all_of(kernel.getInputAccesses(), fits) &&
         llvm::all_of(kernel.getResultAccesses(), fits) &&
         kernel.getBody().front().getOps<ir::ColumnIndexOp>().empty() &&
         kernel.getBody().front().getOps<ir::AxisIndexOp>().empty();
}

int64_t getRowsPerTask(KernelOp kernel, int64_t elements) {
  return std::max<int64_t>(1, elements / kernel.getColumns().value_or(ir::kAssumedSize));
}

} // namespace halftone::skeletons

// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/attention/AttentionColumns.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/RowReductions.h"
#include "codegen/skeletons/attention/AttentionMask.h"
#include "codegen/skeletons/attention/Warpgroups.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

/// As in attention_columns.cuh.
constexpr int64_t kKeysOfBlock = 64;

AttentionColumns::AttentionColumns()
    : Attention({.word = ir::Skeleton::AttentionColumns,
                 .sumsProducts = true,
                 .readsByAnyMap = true,
                 .readsAgain = true,
                 .mostColumns = 1 << 20,
                 .stores = {AccessKind::Lhs, AccessKind::Lhs2}}) {}

LogicalResult AttentionColumns::verify(KernelOp kernel) const {
  if (!findStages(kernel.getBody().front()).empty())
    return kernel.emitOpError("reduces rows, of which a block has no whole one");
  return verifyProducts(kernel,
                        {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Lhs2, AccessKind::Rhs2},
                        {AccessKind::Lhs, AccessKind::Lhs2});
}

/// Larger heads leave registers and shared memory for fewer scores.
Tile AttentionColumns::getDefaultCudaTile(KernelOp kernel) const {
  HeadColumns columns = columnsOf(kernel);
  return {std::max(columns.first, columns.second) > 64 ? 16 : 32};
}

int64_t bytesOfKnownRow(KernelOp kernel) {
  auto held = static_cast<int64_t>(kernel.getInputs().size() + kernel.getDomain().size());
  return static_cast<int64_t>(llvm::alignTo(8 * held + 4 * (countRowValues(kernel) + 1), 8));
}

/// Lines of keys and values, two stages of rows, and what is known of those.
static int64_t sharedBytes(KernelOp kernel, int64_t rows) {
  HeadColumns columns = columnsOf(kernel);
  auto line = [](int64_t elements) {
    constexpr int64_t kShortest = 16;
    return 2 * std::max<int64_t>(kShortest, llvm::PowerOf2Ceil(elements));
  };
  return (kKeysOfBlock + 2 * rows) * (line(columns.first) + line(columns.second)) +
         2 * rows * bytesOfKnownRow(kernel);
}

FailureOr<Launch> AttentionColumns::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  if (isByWarpgroups(plan))
    return getWarpgroupLaunch(kernel, plan);
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || (tile[0] != 16 && tile[0] != 32) || leavesHeadsInPlace(kernel))
    return refuseTile(kernel);
  Launch launch;
  launch.threads = kThreadsOfBlock;
  launch.axes = {{Dims(kernel.getDomain().getValue().take_back()), kKeysOfBlock}};
  if (ArrayRef<Attribute> batch = kernel.getBatchDims(); !batch.empty())
    launch.axes.insert(launch.axes.begin(), Axis{Dims(batch), 1});
  launch.sharedBytes = sharedBytes(kernel, tile[0]);
  return launch;
}

/// As one contraction over the rows.
void AttentionColumns::addPlans(PlanList &plans) const {
  KernelOp kernel = plans.kernel;
  HeadColumns columns = columnsOf(kernel);
  int64_t rows = getDefaultPlan(kernel).getTile()[0];
  addPlansOf(plans, plans.problem.columns, plans.problem.rows / plans.extent(kernel.getBatchDims()),
             2 * static_cast<double>(columns.first + columns.second), 1,
             static_cast<double>(sharedBytes(kernel, rows)));
}

std::string AttentionColumns::describePlan(CudaPlanAttr plan, const Launch &) const {
  if (isByWarpgroups(plan))
    return describeWarpgroups(plan, "keys", "rows");
  return "tensor " + std::to_string(kKeysOfBlock) + " keys, " + std::to_string(plan.getTile()[0]) +
         " rows at a time";
}

BodyForm AttentionColumns::getBodyForm(KernelOp kernel, CudaPlanAttr plan) const {
  BodyForm form = formOfProducts(kernel, AccessKind::Lhs);
  auto printRowValues = addRowValues(form, kernel);
  form.members = [printRowValues, plan](BodyPrinter &printer) {
    if (isByWarpgroups(plan)) {
      printWarpgroupMembers(printer);
    } else {
      printSums(printer, "sums", AccessKind::Lhs);
      printSums(printer, "sums2", AccessKind::Lhs2);
    }
    if (failed(printRowValues(printer)))
      return failure();
    return printMask(printer);
  };
  return form;
}

} // namespace halftone::skeletons

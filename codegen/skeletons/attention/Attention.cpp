// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/attention/Attention.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/RowReductions.h"
#include "codegen/skeletons/attention/AttentionMask.h"
#include "codegen/skeletons/attention/Warpgroups.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

Attention::Attention()
    : Attention({.word = ir::Skeleton::Attention,
                 .sumsProducts = true,
                 .readsByAnyMap = true,
                 .readsAgain = true,
                 .mostColumns = 1 << 20,
                 .stores = {AccessKind::Values, AccessKind::Rhs, AccessKind::Row}}) {}

//===--- CPU: RunInParts has the same products run part by part ---===//

SmallVector<Axis> Attention::getTaskAxes(KernelOp kernel) const {
  return {{Dims(kernel.getDomainType().getRowDims()), 1}};
}

LogicalResult Attention::verifyCpu(KernelOp kernel) const {
  return kernel.emitOpError("is for chips with tensor cores; plan the CPU by itself");
}

void Attention::buildTasks(cpu::Code &, cpu::Frame &, Value, Value) const {
  llvm_unreachable("verifyCpu refuses");
}

//===--- CUDA ---===//

/// Larger heads and pairs of scores leave registers for fewer of them.
Tile Attention::getDefaultCudaTile(KernelOp kernel) const {
  HeadColumns columns = columnsOf(kernel);
  return {hasTwoProducts(kernel) || std::max(columns.first, columns.second) > 64 ? 32 : 64};
}

FailureOr<Launch> Attention::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  if (isByWarpgroups(plan))
    return getWarpgroupLaunch(kernel, plan);
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || (tile[0] != 32 && tile[0] != 64) || leavesHeadsInPlace(kernel))
    return refuseTile(kernel);
  ArrayRef<Attribute> batch = kernel.getBatchDims();
  Launch launch;
  launch.threads = kThreadsOfBlock;
  launch.axes = {
      {Dims(kernel.getDomainType().getRowDims().drop_front(batch.size())), kRowsOfBlock}};
  if (!batch.empty())
    launch.axes.insert(launch.axes.begin(), Axis{Dims(batch), 1});
  return launch;
}

double elementMicroseconds(const Chip &chip, const Problem &problem, double rows) {
  double blocks = problem.batch * std::ceil(problem.rows / rows);
  double busy = std::min<double>(blocks, chip.sms);
  return problem.operations / (busy * chip.f32Operations * chip.gigahertz * 1e3);
}

void Attention::addPlansOf(PlanList &plans, double rows, double depth, double columns,
                           double passes, double sharedBytes) const {
  CudaPlanAttr plan = getDefaultPlan(plans.kernel);
  Problem problem = plans.problem;
  problem.batch = plans.extent(plans.kernel.getBatchDims());
  problem.rows = rows;
  problem.depth = depth;
  problem.columns = columns;
  problem.elementBytes = 2;
  problem.operations *= passes;
  Tiling tiling;
  tiling.tensor = true;
  tiling.rows = kRowsOfBlock;
  tiling.columns = problem.columns;
  tiling.depth = static_cast<double>(plan.getTile()[0]);
  tiling.threads = kThreadsOfBlock;
  tiling.registers = 192;
  tiling.sharedBytes = sharedBytes;
  tiling.sharedTraffic = 2 * problem.columns * (1 + kThreadsOfBlock / kWarp);
  Estimate estimate = estimateContraction(plans.chip, problem, tiling);
  estimate.microseconds += elementMicroseconds(plans.chip, problem, tiling.rows);
  if (!leavesHeadsInPlace(plans.kernel))
    plans.add(CudaPlanKind::Tensor, plan.getTile(), 1, 1, estimate);
  if (plans.chip.warpgroupOperations > 0)
    addWarpgroupPlans(plans, problem);
}

/// Whether a value follows from the second product, other than through what is reduced of a row.
static bool readsSecond(KernelOp kernel, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return hasTwoProducts(kernel) && value == kernel.getBody().front().getArgument(1);
  return !isReduction(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
    return readsSecond(kernel, operand);
  });
}

/// Of each stage, whether a term of it does.
static SmallVector<bool> findStagesOfSecond(KernelOp kernel) {
  return llvm::map_to_vector(findStages(kernel.getBody().front()), [&](const auto &stage) {
    return llvm::any_of(stage,
                        [&](Operation *op) { return readsSecond(kernel, op->getOperand(0)); });
  });
}

/// As one contraction over the keys, in which every stage multiplies queries and keys again.
void Attention::addPlans(PlanList &plans) const {
  KernelOp kernel = plans.kernel;
  SmallVector<bool> stages = findStagesOfSecond(kernel);
  double passes = static_cast<double>(stages.size()) + 1;
  HeadColumns columns = columnsOf(kernel);
  auto first = static_cast<double>(columns.first), second = static_cast<double>(columns.second);
  double depth = static_cast<double>(getDefaultPlan(kernel).getTile()[0]);
  double products = passes * first + second, sharedBytes = 4 * depth * (first + second);
  if (hasTwoProducts(kernel)) {
    products = (passes + 1) * first + static_cast<double>(llvm::count(stages, true) + 1) * second;
    sharedBytes += 2 * kRowsOfBlock * second;
  }
  addPlansOf(plans, plans.problem.rows / plans.extent(kernel.getBatchDims()), plans.problem.columns,
             products, passes, sharedBytes);
}

std::string Attention::describePlan(CudaPlanAttr plan, const Launch &) const {
  if (isByWarpgroups(plan))
    return describeWarpgroups(plan, "rows", "keys");
  return "tensor " + std::to_string(kRowsOfBlock) + " rows, " + std::to_string(plan.getTile()[0]) +
         " keys at a time";
}

StringRef Attention::getDeviceName(KernelOp kernel, CudaPlanAttr plan) const {
  if (!isByWarpgroups(plan))
    return name();
  return kernel.getSkeleton() == ir::Skeleton::Attention ? "warpgroup_attention"
                                                         : "warpgroup_attention_columns";
}

std::string Attention::getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const {
  HeadColumns columns = columnsOf(kernel);
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "halftone::kernels::" << getDeviceName(kernel, plan) << "::Tile<";
  if (isByWarpgroups(plan))
    out << getWarpgroupTile(kernel, plan);
  else
    out << plan.getTile()[0] << ", " << columns.first << ", " << columns.second;
  out << ">";
  return text;
}

std::string Attention::getRunArguments(KernelOp kernel, CudaPlanAttr plan) const {
  return isByWarpgroups(plan) ? getWarpgroupArguments(kernel) : "";
}

/// Left to itself, or told of three, ptxas spilled; two leave it 255 registers, of which it takes
/// up to 250. Warp groups share an SM's registers as they see fit: two blocks with a group that
/// multiplies each, or one with more.
int64_t Attention::getResidentBlocks(int64_t threads) const {
  return threads <= 2 * kThreadsOfBlock ? 2 : 1;
}

/// Of N2's tree over a row: one that is no longer than a chunk has one.
static int64_t countLevels(KernelOp kernel) {
  std::optional<int64_t> columns = kernel.getColumns();
  return !columns ? 3 : *columns > kChunk ? 2 : 1;
}

BodyForm formOfProducts(KernelOp kernel, AccessKind sums) {
  BodyForm form;
  form.leavesOut = true;
  form.constants = bodyConstant("kIsBatch", !kernel.getBatchDims().empty()) +
                   bodyConstant("kProducts", static_cast<int64_t>(kernel.countSums())) +
                   "  using Weight = " + cudaType(weightOf(kernel, sums)).str() + ";\n";
  form.before = "const float* reduced, float sum, float sum2, ";
  form.after = ", Weight* terms";
  Block &body = kernel.getBody().front();
  form.elements[body.getArgument(0)] = "sum";
  if (hasTwoProducts(kernel))
    form.elements[body.getArgument(1)] = "sum2";
  return form;
}

void printSums(BodyPrinter &printer, StringRef name, AccessKind kind) {
  for (auto [i, result] : llvm::enumerate(printer.kernel.getStored()))
    if (isStoredAs(printer.kernel, i, kind))
      printer.out << "  " << kDevice << " float* " << name
                  << "(long long row) const { return result" << i << " + row * "
                  << *cast<TensorType>(result.getType()).getColumns() << "; }\n";
}

static void printReadsSum2(BodyPrinter &printer) {
  printer.out << "  __device__ static constexpr bool reads_sum2(int stage) {\n    return ";
  for (auto [i, reads] : llvm::enumerate(findStagesOfSecond(printer.kernel)))
    if (reads)
      printer.out << "stage == " << i << " || ";
  printer.out << "false;\n  }\n";
}

BodyForm Attention::getBodyForm(KernelOp kernel, CudaPlanAttr plan) const {
  AccessKind kind = hasTwoProducts(kernel) ? AccessKind::Rhs : AccessKind::Values;
  BodyForm form = formOfProducts(kernel, kind);
  form.constants += bodyConstant("kLevels", countLevels(kernel));
  auto printReductions = addReductions(form, kernel);
  form.members = [printReductions, kind, plan](BodyPrinter &printer) {
    if (isByWarpgroups(plan))
      printWarpgroupMembers(printer);
    else
      printSums(printer, "sums", kind);
    printReadsSum2(printer);
    if (failed(printReductions(printer)) || failed(printMask(printer)))
      return failure();
    return printer.printStoreRow("const float* reduced");
  };
  return form;
}

} // namespace halftone::skeletons

// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Attention.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/RowReductions.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

/// As in attention.cuh.
constexpr int64_t kRowsOfBlock = 64, kThreadsOfBlock = 128, kHeadStep = 16, kMostHead = 128;

Attention::Attention()
    : Skeleton({.word = ir::Skeleton::Attention,
                .sumsProducts = true,
                .readsByAnyMap = true,
                .readsAgain = true,
                .mostColumns = 1 << 20,
                .stores = {AccessKind::Values}}) {}

static std::optional<unsigned> findInput(KernelOp kernel, AccessKind kind) {
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.getInputAccess(i).getKind() == kind)
      return i;
  return std::nullopt;
}

/// The type of the operand that is accessed so; verify() found one.
static TensorType typeOf(KernelOp kernel, AccessKind kind) {
  return cast<TensorType>(kernel.getInputs()[*findInput(kernel, kind)].getType());
}

LogicalResult Attention::verify(KernelOp kernel) const {
  for (AccessKind kind : {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Values})
    if (!findInput(kernel, kind))
      return kernel.emitOpError() << "has no operand of access " << stringifyAccessKind(kind);
  if (kernel.getStored().size() != 1 || kernel.getTransposeLhs() || !kernel.getTransposeRhs())
    return kernel.emitOpError("multiplies lhs by a transposed rhs and stores one result");
  TensorType rhs = typeOf(kernel, AccessKind::Rhs), values = typeOf(kernel, AccessKind::Values);
  std::string fault = whyNotAttention(
      {typeOf(kernel, AccessKind::Lhs).getElementType(), rhs.getElementType(), rhs},
      {kernel.getYield().getStores()[0].getType(), values.getElementType(), values});
  if (!fault.empty())
    return kernel.emitOpError() << fault;
  return Skeleton::verify(kernel);
}

//===--- Which products ---===//

static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isHalf(Type type) {
  return elementOf(type) == Element::f16 || elementOf(type) == Element::bf16;
}

std::string whyNotAttention(const AttentionProduct &scores, const AttentionProduct &mixed) {
  for (auto [product, what] :
       {std::pair(&scores, "queries and keys"), {&mixed, "weights and values"}}) {
    if (product->lhs != product->rhs || !isHalf(product->lhs))
      return what + (" are " + nameOf(product->lhs)) + " and " + nameOf(product->rhs) +
             ", not both f16 or both bf16";
    std::optional<int64_t> columns = product->matrix.getColumns();
    if (!columns || *columns % kHeadStep != 0 || *columns > kMostHead)
      return "heads have " + formatDims(product->matrix.getDims().take_back()) +
             " columns, no multiple of 16 up to 128";
  }
  return {};
}

std::string whyNotAttentionOn(StringRef chip, const AttentionProduct &scores,
                              const AttentionProduct &mixed) {
  const Chip *found = findChip(chip);
  for (const AttentionProduct *product : {&scores, &mixed})
    if (found && found->number < 80 && elementOf(product->lhs) != Element::f16)
      return (chip + " has no tensor cores for " + nameOf(product->lhs)).str();
  return {};
}

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

/// Larger heads leave registers for fewer scores.
Tile Attention::getDefaultCudaTile(KernelOp kernel) const {
  int64_t columns = std::max(*typeOf(kernel, AccessKind::Rhs).getColumns(),
                             *typeOf(kernel, AccessKind::Values).getColumns());
  return {columns > 64 ? 32 : 64};
}

FailureOr<Launch> Attention::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || (tile[0] != 32 && tile[0] != 64))
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

/// As one contraction over the keys, in which every stage multiplies queries and keys again.
void Attention::addPlans(PlanList &plans) const {
  KernelOp kernel = plans.kernel;
  CudaPlanAttr plan = getDefaultPlan(kernel);
  double passes = static_cast<double>(findStages(kernel.getBody().front()).size()) + 1;
  auto columns = static_cast<double>(*typeOf(kernel, AccessKind::Rhs).getColumns()),
       valueColumns = static_cast<double>(*typeOf(kernel, AccessKind::Values).getColumns());
  Problem problem = plans.problem;
  problem.batch = plans.extent(kernel.getBatchDims());
  problem.rows /= problem.batch;
  problem.depth = problem.columns;
  problem.columns = passes * columns + valueColumns;
  problem.elementBytes = 2;
  problem.operations *= passes;
  Tiling tiling;
  tiling.tensor = true;
  tiling.rows = kRowsOfBlock;
  tiling.columns = problem.columns;
  tiling.depth = static_cast<double>(plan.getTile()[0]);
  tiling.threads = kThreadsOfBlock;
  tiling.registers = 192;
  tiling.sharedBytes = 4 * tiling.depth * (columns + valueColumns);
  tiling.sharedTraffic = 2 * problem.columns * (1 + kThreadsOfBlock / kWarp);
  plans.add(CudaPlanKind::Tensor, plan.getTile(), 1, 1,
            estimateContraction(plans.chip, problem, tiling));
}

std::string Attention::describePlan(CudaPlanAttr plan, const Launch &) const {
  return "tensor " + std::to_string(kRowsOfBlock) + " rows, " + std::to_string(plan.getTile()[0]) +
         " keys at a time";
}

std::string Attention::getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const {
  std::string text;
  llvm::raw_string_ostream(text) << "halftone::kernels::" << name() << "::Tile<"
                                 << plan.getTile()[0] << ", "
                                 << *typeOf(kernel, AccessKind::Rhs).getColumns() << ", "
                                 << *typeOf(kernel, AccessKind::Values).getColumns() << ">";
  return text;
}

/// Left to itself, or told of three, ptxas spilled; two leave it 255 registers, of which it takes up
/// to 216.
int64_t Attention::getResidentBlocks(int64_t) const { return 2; }

/// Of N2's tree over a row: one that is no longer than a chunk has one.
static int64_t countLevels(KernelOp kernel) {
  std::optional<int64_t> columns = kernel.getColumns();
  return !columns ? 3 : *columns > kChunk ? 2 : 1;
}

BodyForm Attention::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.constants = bodyConstant("kIsBatch", !kernel.getBatchDims().empty()) +
                   bodyConstant("kLevels", countLevels(kernel));
  form.before = "const float* reduced, float sum, ";
  form.after = ", Values* terms";
  form.elements[kernel.getBody().front().getArgument(0)] = "sum";
  auto printReductions = addReductions(form, kernel);
  int64_t columns = *typeOf(kernel, AccessKind::Values).getColumns();
  form.members = [printReductions, columns](BodyPrinter &printer) {
    printer.out << "  " << kDevice << " float* sums(long long row) const { return result0 + row * "
                << columns << "; }\n";
    return printReductions(printer);
  };
  return form;
}

} // namespace halftone::skeletons

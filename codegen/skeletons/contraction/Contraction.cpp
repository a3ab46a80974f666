// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/Contraction.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/emit/cuda/GatheredMatrix.h"
#include "codegen/ir/GatheredLines.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/KernelGroup.h"
#include "codegen/skeletons/contraction/CpuOperands.h"
#include "codegen/skeletons/contraction/CpuPhase.h"
#include "codegen/skeletons/contraction/PlanForm.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

/// Threads unroll the body over the elements of their tiles, and registers run out before
/// compilers.
constexpr int kMostScalars = 96;

Contraction::Contraction()
    : Skeleton({.word = ir::Skeleton::Contraction,
                .takesElements = true,
                .sumsProducts = true,
                .finish = Finish::Possible,
                .mostScalars = kMostScalars,
                .stores = {AccessKind::Full, AccessKind::Row, AccessKind::Window}}) {}

static const PlanForm &formOf(CudaPlanAttr plan) {
  switch (plan.getKind()) {
  case CudaPlanKind::Tensor:
    return tensorForm();
  case CudaPlanKind::Warpgroup:
    return warpgroupForm();
  case CudaPlanKind::TensorMemory:
    return tensorMemoryForm();
  case CudaPlanKind::Simt:
    break;
  }
  return simtForm();
}

std::string PlanForm::getTileArguments(CudaPlanAttr plan) const {
  return llvm::join(llvm::map_range(plan.getTile(), [](int64_t n) { return std::to_string(n); }),
                    ", ");
}

Splits findSplits(const Chip &chip, const Problem &problem, Tiling tiling,
                  ArrayRef<int64_t> numbers, int64_t places) {
  Splits best;
  auto depth = static_cast<int64_t>(problem.depth);
  for (int64_t splits : numbers) {
    if (splits > 1 && depth < splits * kLeastPerSplit)
      break;
    int64_t chunk = places == 1 ? kSumChunk : 2 * kSumChunk; // of bytes
    int64_t least = splits == 1 ? 1 : llvm::alignTo(llvm::divideCeil(depth, splits), chunk);
    tiling.splits = splits == 1 ? 1 : static_cast<double>(llvm::divideCeil(depth, least));
    Estimate estimate = estimateContraction(chip, problem, tiling);
    if (best.number == 0 || estimate.microseconds < best.estimate.microseconds)
      best = {static_cast<int64_t>(tiling.splits), std::max<int64_t>(least / places, 1), estimate};
  }
  return best;
}

void addWithSplits(PlanList &plans, CudaPlanKind kind, ArrayRef<int64_t> tile, const Tiling &tiling,
                   ArrayRef<int64_t> numbers, int64_t places) {
  if (residentBlocks(plans.chip, tiling) == 0)
    return;
  Splits best = findSplits(plans.chip, plans.problem, tiling, numbers, places);
  plans.add(kind, tile, best.number, best.least, best.estimate);
}

std::string extentsText(ArrayRef<int64_t> tile) {
  return (Twine(tile[0]) + "x" + Twine(tile[1]) + "x" + Twine(tile[2])).str();
}

int64_t accessWidth(KernelOp kernel) {
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (isVarying(kernel, i) && bitsOf(elementType(input)) != 16)
      return 4;
  for (auto [i, result] : llvm::enumerate(kernel.getStored()))
    if (isStoredByElement(kernel, i) && bitsOf(elementType(result)) != 16)
      return 4;
  return 8;
}

Matrices findMatrices(KernelOp kernel) {
  Matrices found;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i) {
    if (kernel.getInputAccess(i).getKind() == AccessKind::Lhs)
      found.lhs = i;
    if (kernel.getInputAccess(i).getKind() == AccessKind::Rhs)
      found.rhs = i;
    if (kernel.getInputAccess(i).getKind() == AccessKind::Start)
      found.start = i;
    if (kernel.getInputAccess(i).getKind() == AccessKind::LhsScales)
      found.lhsScales = i;
    if (kernel.getInputAccess(i).getKind() == AccessKind::RhsScales)
      found.rhsScales = i;
  }
  return found;
}

bool mayReorder(KernelOp kernel) { return kernel.getAccumulation() != Accumulation::Ordered; }

bool isFloat8(Type element) { return isShort(element) && bitsOf(element) == 8; }

bool leavesDigits(Accumulation accumulation) {
  return accumulation == Accumulation::Hardware || accumulation == Accumulation::Promoted;
}

std::string whyNotBothAcross(int64_t lhsBytes, int64_t rhsBytes) {
  constexpr int64_t kBothTurned = 2 * kLeastCodes;
  if (lhsBytes % kBothTurned == 0 || rhsBytes % kBothTurned == 0)
    return "";
  return "both operands lie across the sum, and rows of neither begin at multiples of " +
         std::to_string(kBothTurned) + " bytes";
}

bool multipliesFloat8(KernelOp kernel) {
  Matrices matrices = findMatrices(kernel);
  auto isOfFloat8 = [&](unsigned input) {
    return isFloat8(elementType(kernel.getInputs()[input])) && !isCodes(kernel.getInputs()[input]);
  };
  return leavesDigits(kernel.getAccumulation()) && isOfFloat8(matrices.lhs) &&
         isOfFloat8(matrices.rhs);
}

bool multipliesBlocks(KernelOp kernel) { return findMatrices(kernel).lhsScales.has_value(); }

bool multipliesByFactors(KernelOp kernel) { return kernel->hasAttr(kByFactorsAttr); }

bool multipliesFloat4(KernelOp kernel) {
  Matrices matrices = findMatrices(kernel);
  return matrices.lhsScales && elementType(kernel.getInputs()[matrices.lhs]).isInteger(32);
}

bool promotes(KernelOp kernel) { return kernel.getAccumulation() == Accumulation::Promoted; }

bool elementsUseLhsSum(KernelOp kernel) {
  llvm::SmallPtrSet<Operation *, 8> users; // the body is one block, so its order is that of use
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (isa<LhsSumOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return users.contains(operand.getDefiningOp());
        }))
      users.insert(&op);
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores()))
    if (isStoredByElement(kernel, i) && users.contains(value.getDefiningOp()))
      return true;
  return false;
}

/// The largest magnitude of what the group's kernel computes (decisions/0070).
static bool carriesMaximum(KernelForm op, const KernelGroup &group) {
  Value x = getBeforeWidening(op->getOperand(0));
  return !group.hasFinish && hasSameDomain(op, group) && group.contains(x.getDefiningOp()) &&
         accessesAgree(op, group);
}

/// A bias gradient rides on its weight gradient: its sum over rows is lhs's sum over k. Of a batch
/// that would be one sum for each of its elements.
bool Contraction::carries(KernelForm op, const KernelGroup &group) const {
  if (op->hasAttr(kMaximumAttr))
    return carriesMaximum(op, group);
  auto contract = dyn_cast<ContractOp>(group.ops.front());
  return contract && isColumnSum(op) && contract.getTransposeLhs() &&
         contract.getBatchAxes() == 0 && contract.getLhs() == getBeforeWidening(op->getOperand(0));
}

Value Contraction::buildCarried(OpBuilder &builder, KernelForm op, Value sum) const {
  if (!isColumnSum(op))
    return {};
  return LhsSumOp::create(builder, sum.getLoc(), sum.getType());
}

/// What is carried is one value per row of the weight.
AccessAttr Contraction::getResultAccess(OpResult result) const {
  if (isColumnSum(result.getOwner()))
    return AccessAttr::get(result.getContext(), AccessKind::Row);
  return Skeleton::getResultAccess(result);
}

/// One for all tasks.
Dims Contraction::getSummands(KernelOp kernel) const {
  return {Builder(kernel).getI64IntegerAttr(1)};
}

Value Contraction::buildSum(cpu::Code &code, cpu::Frame &frame) const {
  return code.load(code.f32(), frame.workspace());
}

std::optional<CpuBlocking> Contraction::getCpuBlocking(KernelOp kernel) const {
  CpuBlocking blocking{Dims(kernel.getReduction().getValue()), getLhsStride(kernel),
                       kernel.getTransposeRhs()};
  Matrices matrices = findMatrices(kernel);
  if (kernel.getBatchDims().empty())
    blocking.rhs = matrices.rhs;
  auto neighboursOf = [&](unsigned input) {
    std::optional<Tap> found = findRunOrTap(kernel, input);
    return found ? found->elements : 0;
  };
  blocking.lhsNeighbours = neighboursOf(matrices.lhs);
  blocking.rhsNeighbours = neighboursOf(matrices.rhs);
  return blocking;
}

bool Contraction::multipliesPairs(KernelOp kernel) const {
  Matrices matrices = findMatrices(kernel);
  auto isBf16 = [&](unsigned input) {
    return elementOf(elementType(kernel.getInputs()[input])) == Element::bf16;
  };
  return mayReorder(kernel) && isBf16(matrices.lhs) && isBf16(matrices.rhs);
}

/// In f32, of the shape of its domain.
static bool storesItsSum(KernelOp kernel) {
  ValueRange stores = kernel.getYield().getStores();
  return stores.size() == 1 && stores[0] == kernel.getBody().front().getArgument(0) &&
         kernel.getBatchDims().empty();
}

LogicalResult Contraction::verify(KernelOp kernel) const {
  if (!kernel.getBatchDims().empty() && !kernel.getBody().front().getOps<LhsSumOp>().empty())
    return kernel.emitOpError(
        "has a batch and uses the sum of lhs; sum its columns in another kernel");
  if (findMatrices(kernel).start && !storesItsSum(kernel))
    return kernel.emitOpError(
        "goes on from what its result holds, so that it stores its sum as it is, and nothing else");
  Matrices matrices = findMatrices(kernel);
  if (matrices.lhsScales.has_value() != matrices.rhsScales.has_value() ||
      (matrices.lhsScales && !multipliesFloat8(kernel) &&
       !(multipliesFloat4(kernel) && leavesDigits(kernel.getAccumulation()))))
    return kernel.emitOpError("multiplies blocks with scales that are not of two operands of 8 "
                              "bits, or of 4, under accumulate hardware or promoted");
  if (multipliesByFactors(kernel) && !(multipliesBlocks(kernel) && promotes(kernel)))
    return kernel.emitOpError(
        "multiplies sums by factors that are not of blocks under accumulate promoted");
  return Skeleton::verify(kernel);
}

SmallVector<Axis> getTileAxes(KernelOp kernel, int64_t rows, int64_t columns) {
  ArrayRef<Attribute> domain = kernel.getDomain().getValue(), batch = kernel.getBatchDims();
  SmallVector<Axis> axes = {{Dims(domain.drop_back().drop_front(batch.size())), rows},
                            {Dims(domain.take_back()), columns}};
  if (!batch.empty())
    axes.insert(axes.begin(), Axis{Dims(batch), 1});
  return axes;
}

SmallVector<Axis> Contraction::getTaskAxes(KernelOp kernel) const {
  SmallVector<Axis> axes = getTileAxes(kernel, 1, 1);
  if (std::optional<Phases> phases = findCpuPhases(kernel)) {
    Axis &rows = axes[axes.size() - 2];
    rows.extent = Dims(phases->rows);
    Attribute count = Builder(kernel.getContext()).getI64IntegerAttr(phases->count());
    axes.insert(&rows, Axis{{count}, 1});
  }
  return axes;
}

Tile Contraction::getDefaultCudaTile(KernelOp kernel) const {
  int64_t columns = kernel.getColumns().value_or(INT64_MAX);
  int64_t rows = getStaticProduct(kernel.getDomainType().getRowDims()).value_or(INT64_MAX);
  if (columns <= 16)
    return {64, 16, 16, 4, 4};
  if (columns <= 128 || rows <= 128) // small: rather more blocks than more reuse
    return {32, 32, 16, 2, 4};
  if (columns < 512 || rows < 512)
    return {64, 64, 16, 4, 4};
  return {128, 128, 8, 8, 8};
}

FailureOr<Launch> Contraction::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  return formOf(plan).getLaunch(kernel, plan);
}

void Contraction::addPlans(PlanList &plans) const {
  KernelOp kernel = plans.kernel;
  Matrices matrices = findMatrices(kernel);
  auto elementBytes = [&](unsigned input) {
    return bitsOf(elementType(kernel.getInputs()[input])) / 8.0;
  };
  plans.problem.batch = plans.extent(kernel.getBatchDims());
  plans.problem.rows /= plans.problem.batch;
  plans.problem.depth = plans.extent(kernel.getReduction().getValue());
  plans.problem.elementBytes = (elementBytes(matrices.lhs) + elementBytes(matrices.rhs)) / 2;
  if (multipliesFloat4(kernel)) {
    plans.problem.depth *= kPackedCodes;
    plans.problem.elementBytes /= kPackedCodes;
  }
  plans.reason = tensorForm().whyNot(plans);
  if (plans.reason.empty()) {
    bool hasMemory = plans.chip.tensorMemoryOperations > 0 &&
                     (multipliesFloat8(kernel) || multipliesFloat4(kernel));
    if (hasMemory)
      plans.noEightBits = tensorMemoryForm().whyNot(plans);
    if (hasMemory && plans.noEightBits.empty())
      tensorMemoryForm().addPlans(plans);
    if (plans.empty() || !multipliesBlocks(kernel))
      tensorForm().addPlans(plans);
    if (plans.chip.warpgroupOperations > 0)
      plans.noWarpgroups = warpgroupForm().whyNot(plans);
    if (plans.chip.warpgroupOperations > 0 && plans.noWarpgroups.empty())
      warpgroupForm().addPlans(plans);
  }
  // On chips that have no such products a plan stands only until those are planned apart.
  assert((!plans.empty() || !multipliesBlocks(kernel) ||
          !(multipliesByFactors(kernel) ? plans.chip.multipliesFloat8()
                                        : plans.chip.multipliesBlocks())) &&
         "MultiplyCodes asks for what chips have");
  if (plans.empty())
    simtForm().addPlans(plans);
}

/// "tensor 128x64x32, warps 32x32, 3 stages, 4 splits", "simt 64x64x16"
std::string Contraction::describePlan(CudaPlanAttr plan, const Launch &) const {
  std::string text = formOf(plan).describe(plan);
  if (plan.getSplits() > 1)
    text += ", " + std::to_string(plan.getSplits()) + " splits";
  return text;
}

StringRef Contraction::getDeviceName(KernelOp kernel, CudaPlanAttr plan) const {
  if (plan.getKind() == CudaPlanKind::TensorMemory)
    return formOf(plan).getDeviceName();
  if (multipliesByFactors(kernel))
    return plan.getKind() == CudaPlanKind::Warpgroup ? "factored_warpgroup_contraction"
                                                     : "factored_contraction";
  if (multipliesBlocks(kernel))
    return multipliesFloat4(kernel) ? "float4_contraction" : "block_scaled_contraction";
  if (plan.getKind() != CudaPlanKind::Simt && multipliesFloat8(kernel))
    return plan.getKind() == CudaPlanKind::Tensor ? "float8_contraction"
                                                  : "float8_warpgroup_contraction";
  if (!findGatheredInput(kernel))
    return formOf(plan).getDeviceName();
  return plan.getKind() == CudaPlanKind::Tensor ? "gathered_tensor_contraction"
                                                : "gathered_contraction";
}

std::string Contraction::getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const {
  return "halftone::kernels::" + getDeviceName(kernel, plan).str() + "::Tile<" +
         formOf(plan).getTileArguments(plan) + ">";
}

std::string Contraction::getRunArguments(KernelOp kernel, CudaPlanAttr plan) const {
  return formOf(plan).getRunArguments(kernel, plan);
}

/// ptxas spilled for the sake of ten blocks of 64 threads; six leave them 168 registers.
int64_t Contraction::getResidentBlocks(int64_t threads) const {
  return threads == 64 ? 6 : Skeleton::getResidentBlocks(threads);
}

/// Behind run(), by the threads that computed elements.
static std::string finishText(int64_t threads, int64_t others) {
  std::string text = "  ";
  if (others > 0)
    text += "if (threadIdx.x >= " + std::to_string(others) + ") ";
  return text + "halftone::kernels::finish_maximum<" + std::to_string((threads - others) / kWarp) +
         ">(body);\n";
}

BodyForm Contraction::getBodyForm(KernelOp kernel, CudaPlanAttr plan) const {
  auto sums = kernel.getBody().front().getOps<LhsSumOp>();
  BodyForm form;
  form.constants = bodyConstant("kTransposeLhs", kernel.getTransposeLhs()) +
                   bodyConstant("kTransposeRhs", kernel.getTransposeRhs()) +
                   bodyConstant("kIsBatch", !kernel.getBatchDims().empty()) +
                   bodyConstant("kUsesLhsSum", !sums.empty()) + gatheredConstants(kernel);
  form.before = "float sum, float lhs_sum, ";
  // What earlier chunks left is added last: P21 allows it, or ChunkRows has refused the model.
  form.elements[kernel.getBody().front().getArgument(0)] =
      findMatrices(kernel).start ? "(inputs.start[i] + sum)" : "sum";
  for (LhsSumOp op : sums)
    form.uniforms[op.getResult()] = "lhs_sum";
  form.members = [kernel](BodyPrinter &printer) {
    printGatheredMatrix(kernel, printer.out);
    return printer.printStoreRow("float lhs_sum");
  };
  if (kernel.hasFinish()) {
    form.maximum = "if (column < columns()) *maximum";
    form.last = finishText(getLaunch(kernel, plan)->threads, formOf(plan).getOtherThreads());
  }
  formOf(plan).addTo(form, kernel, plan);
  return form;
}

} // namespace halftone::skeletons

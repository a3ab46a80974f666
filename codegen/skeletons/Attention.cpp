// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Attention.h"

#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Accesses.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/RowReductions.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

constexpr int64_t kHeadStep = 16, kMostHead = 128;

Attention::Attention()
    : Attention({.word = ir::Skeleton::Attention,
                 .sumsProducts = true,
                 .readsByAnyMap = true,
                 .readsAgain = true,
                 .mostColumns = 1 << 20,
                 .stores = {AccessKind::Values, AccessKind::Rhs, AccessKind::Row}}) {}

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

static AttentionProduct productOf(KernelOp kernel, StringRef operands, AccessKind lhs,
                                  AccessKind rhs) {
  return {operands, typeOf(kernel, lhs).getElementType(), typeOf(kernel, rhs).getElementType(),
          typeOf(kernel, rhs)};
}

/// What elements become for the result of this access.
static Type weightOf(KernelOp kernel, AccessKind kind) {
  for (auto [i, store] : llvm::enumerate(kernel.getYield().getStores()))
    if (kernel.getResultAccess(i).getKind() == kind)
      return store.getType();
  llvm_unreachable("verify() found one");
}

static bool hasTwoProducts(KernelOp kernel) { return kernel.countSums() == 2; }

HeadColumns columnsOf(KernelOp kernel) {
  AccessKind second = hasTwoProducts(kernel) ? AccessKind::Rhs2 : AccessKind::Values;
  return {*typeOf(kernel, AccessKind::Rhs).getColumns(), *typeOf(kernel, second).getColumns()};
}

//===--- Which products ---===//

LogicalResult Attention::verifyProducts(KernelOp kernel, ArrayRef<AccessKind> operands,
                                        ArrayRef<AccessKind> sums) const {
  for (AccessKind kind : operands)
    if (!findInput(kernel, kind))
      return kernel.emitOpError() << "has no operand of access " << stringifyAccessKind(kind);
  SmallVector<AccessKind> found;
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (AccessKind kind = kernel.getResultAccess(i).getKind(); isSumOfProducts(kind))
      found.push_back(kind);
  if (ArrayRef<AccessKind>(found) != sums || kernel.getTransposeLhs() ||
      !kernel.getTransposeRhs()) {
    InFlightDiagnostic error = kernel.emitOpError("multiplies lhs by a transposed rhs and stores ");
    llvm::interleave(
        sums, [&](AccessKind kind) { error << stringifyAccessKind(kind); }, [&] { error << ", "; });
    return error << " as sums of products";
  }
  SmallVector<AttentionProduct> products{
      productOf(kernel, "queries and keys", AccessKind::Lhs, AccessKind::Rhs)};
  if (hasTwoProducts(kernel))
    products.push_back(
        productOf(kernel, "gradients and values", AccessKind::Lhs2, AccessKind::Rhs2));
  for (AccessKind kind : sums) {
    products.push_back(productOf(kernel, "weights and values", kind, kind));
    products.back().lhs = weightOf(kernel, kind);
  }
  if (std::string fault = whyNotAttention(products); !fault.empty())
    return kernel.emitOpError() << fault;
  return Skeleton::verify(kernel);
}

LogicalResult Attention::verify(KernelOp kernel) const {
  if (hasTwoProducts(kernel))
    return verifyProducts(kernel,
                          {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Lhs2, AccessKind::Rhs2},
                          AccessKind::Rhs);
  return verifyProducts(kernel, {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Values},
                        AccessKind::Values);
}

static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isHalf(Type type) {
  return elementOf(type) == Element::f16 || elementOf(type) == Element::bf16;
}

std::string whyNotAttention(ArrayRef<AttentionProduct> products) {
  constexpr size_t kForward = 2; // whose products may have formats of their own
  for (const AttentionProduct &product : products) {
    if (product.lhs != product.rhs || !isHalf(product.lhs))
      return (product.operands + " are " + nameOf(product.lhs) + " and " + nameOf(product.rhs) +
              ", not both f16 or both bf16")
          .str();
    if (products.size() > kForward && product.lhs != products.front().lhs)
      return (product.operands + " are " + nameOf(product.lhs) + ", " + products.front().operands +
              " " + nameOf(products.front().lhs))
          .str();
    std::optional<int64_t> columns = product.matrix.getColumns();
    if (!columns || *columns % kHeadStep != 0 || *columns > kMostHead)
      return "heads have " + formatDims(product.matrix.getDims().take_back()) +
             " columns, no multiple of 16 up to 128";
  }
  return {};
}

std::string whyNotAttentionOn(StringRef chip, ArrayRef<AttentionProduct> products) {
  const Chip *found = findChip(chip);
  for (const AttentionProduct &product : products)
    if (found && found->number < 80 && elementOf(product.lhs) != Element::f16)
      return (chip + " has no tensor cores for " + nameOf(product.lhs)).str();
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

/// Larger heads and pairs of scores leave registers for fewer of them.
Tile Attention::getDefaultCudaTile(KernelOp kernel) const {
  HeadColumns columns = columnsOf(kernel);
  return {hasTwoProducts(kernel) || std::max(columns.first, columns.second) > 64 ? 32 : 64};
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

void Attention::addPlan(PlanList &plans, double rows, double depth, double columns, double passes,
                        double sharedBytes) const {
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
  plans.add(CudaPlanKind::Tensor, plan.getTile(), 1, 1,
            estimateContraction(plans.chip, problem, tiling));
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
  addPlan(plans, plans.problem.rows / plans.extent(kernel.getBatchDims()), plans.problem.columns,
          products, passes, sharedBytes);
}

std::string Attention::describePlan(CudaPlanAttr plan, const Launch &) const {
  return "tensor " + std::to_string(kRowsOfBlock) + " rows, " + std::to_string(plan.getTile()[0]) +
         " keys at a time";
}

std::string Attention::getPlanArguments(KernelOp kernel, CudaPlanAttr plan) const {
  HeadColumns columns = columnsOf(kernel);
  std::string text;
  llvm::raw_string_ostream(text) << "halftone::kernels::" << name() << "::Tile<"
                                 << plan.getTile()[0] << ", " << columns.first << ", "
                                 << columns.second << ">";
  return text;
}

/// Left to itself, or told of three, ptxas spilled; two leave it 255 registers, of which it takes
/// up to 250.
int64_t Attention::getResidentBlocks(int64_t) const { return 2; }

/// Of N2's tree over a row: one that is no longer than a chunk has one.
static int64_t countLevels(KernelOp kernel) {
  std::optional<int64_t> columns = kernel.getColumns();
  return !columns ? 3 : *columns > kChunk ? 2 : 1;
}

BodyForm formOfProducts(KernelOp kernel, AccessKind sums) {
  BodyForm form;
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

BodyForm Attention::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  AccessKind kind = hasTwoProducts(kernel) ? AccessKind::Rhs : AccessKind::Values;
  BodyForm form = formOfProducts(kernel, kind);
  form.constants += bodyConstant("kLevels", countLevels(kernel));
  auto printReductions = addReductions(form, kernel);
  form.members = [printReductions, kind](BodyPrinter &printer) {
    printSums(printer, "sums", kind);
    printReadsSum2(printer);
    if (failed(printReductions(printer)))
      return failure();
    return printer.printStoreRow("const float* reduced");
  };
  return form;
}

} // namespace halftone::skeletons

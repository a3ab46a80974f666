// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Row.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cpu/Trees.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

/// A body's reductions by stage: those of one need results of earlier stages alone.
using Stages = SmallVector<SmallVector<Operation *>>;
/// Of each value: reductions on the longest way to it.
using Depths = llvm::DenseMap<Value, unsigned>;

Row::Row()
    : Skeleton({.word = ir::Skeleton::Row,
                .takesElements = true,
                .readsByAnyMap = true,
                .readsAgain = true,
                .finish = Finish::Possible,
                .mostColumns = 1 << 20,
                .stores = {AccessKind::Full, AccessKind::Row}}) {}

bool Row::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return hasSameDomain(op, group) && accessesAgree(op, group) &&
         (group.skeleton == this || group.skeleton->traits().elementwise);
}

static Dims rowsOf(KernelOp kernel) { return Dims(kernel.getDomainType().getRowDims()); }

Dims Row::getSummands(KernelOp kernel) const { return rowsOf(kernel); }

static bool isReduction(Operation *op) { return isa<RowSumOp, RowMaxOp>(op); }

static Depths findDepths(Block &block) {
  Depths depths;
  for (Operation &op : block.without_terminator()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    depths[op.getResult(0)] = depth + (isReduction(&op) ? 1 : 0);
  }
  return depths;
}

static Stages findStages(Block &block) {
  Depths depths = findDepths(block);
  Stages stages;
  for (Operation &op : block.without_terminator()) {
    if (!isReduction(&op))
      continue;
    unsigned depth = depths.lookup(op.getResult(0));
    if (stages.size() < depth)
      stages.resize(depth);
    stages[depth - 1].push_back(&op);
  }
  return stages;
}

//===--- CPU: a pass over the row for every stage, then one that stores ---===//

Tile Row::getDefaultCpuTile(KernelOp kernel) const {
  constexpr int64_t kElementsPerTask = 4096;
  return {getRowsPerTask(kernel, kElementsPerTask)};
}

SmallVector<Axis> Row::getTaskAxes(KernelOp kernel) const {
  return {{rowsOf(kernel), (*kernel.getCpuTile())[0]}};
}

/// Whether a few vectors as long as a row fit on the stack and in the second-level cache.
static bool isShort(KernelOp kernel) {
  constexpr int64_t kMostColumns = 1 << 14;
  return kernel.getColumns().value_or(kMostColumns + 1) <= kMostColumns;
}

/// In the last pass that reduces: memory would rest while a row that is in the caches is passed
/// over again. The pass that stores has memory enough to do.
static void fetchNextRow(Frame &frame, cpu::Body &body) {
  constexpr unsigned kLines = 2; // of the kPartials elements of a step
  for (unsigned line = 0; isShort(frame.kernel) && line < kLines; ++line)
    body.fetchAhead(1, line);
}

/// Whether a value is worth being kept for later passes over the row: a function of math.
static bool isWorthKeeping(KernelOp kernel, Value value) {
  constexpr size_t kOperations = 12; // take longer than a store and a load
  if (!value.getType().isF32() || !isShort(kernel))
    return false;
  llvm::SetVector<Operation *> operations;
  SmallVector<Value> open{value};
  while (!open.empty() && operations.size() < kOperations) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && !isReduction(op) && operations.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  return operations.size() >= kOperations;
}

/// Of each reduced value that later passes read, too: memory for a row.
using Kept = llvm::MapVector<Value, Value>;

static Kept makeKept(Code &code, Frame &frame, const Stages &stages) {
  Kept kept;
  for (ArrayRef<Operation *> stage : stages)
    for (Operation *op : stage)
      if (Value value = op->getOperand(0);
          !value.hasOneUse() && isWorthKeeping(frame.kernel, value))
        kept[value] = code.scratch(code.f32(), static_cast<int64_t>(llvm::alignTo(
                                                   *frame.kernel.getColumns(), cpu::kPartials)));
  return kept;
}

static void reduceStage(Code &code, Frame &frame, cpu::Body &body, const Kept &kept, bool isLast,
                        ArrayRef<Operation *> reductions) {
  SmallVector<Combine> combines;
  for (Operation *op : reductions)
    combines.push_back(isa<RowSumOp>(op) ? Combine::Sum : Combine::Maximum);
  auto elements = [&](Value column, Value mask, unsigned lanes) {
    body.enterElement(column, mask, lanes);
    if (isLast && !mask)
      fetchNextRow(frame, body);
    Values values;
    for (Operation *op : reductions) {
      values.push_back(body.getVector(op->getOperand(0)));
      if (Value memory = kept.lookup(op->getOperand(0)))
        code.store(values.back(), code.address(memory, code.f32(), column));
    }
    return values;
  };
  std::optional<int64_t> columns = frame.kernel.getColumns();
  Values results = columns
                       ? reduceRow(code, frame.variant, combines, *columns, elements)
                       : reduceRow(code, frame.variant, combines, frame.columns(code), elements);
  for (auto [op, result] : llvm::zip(reductions, results)) {
    body.knowRow(op->getResult(0), result);
    if (Value memory = kept.lookup(op->getOperand(0)))
      body.readKept(op->getOperand(0), memory);
  }
}

static void storeRowElements(Code &code, Frame &frame, cpu::Body &body) {
  if (!hasResults(frame.kernel, AccessKind::Full))
    return;
  std::optional<int64_t> columns = frame.kernel.getColumns();
  if (!columns)
    return body.storeColumns(code.integer(0), frame.columns(code));
  unsigned lanes = frame.variant.bodyLanes;
  int64_t main = *columns / lanes * lanes;
  if (main > 0)
    code.loop(code.integer(0), code.integer(main), lanes, [&](Value column) {
      body.enterElement(column, {}, lanes);
      body.storeFull();
    });
  if (*columns > main) {
    body.enterElement(code.integer(main), code.firstLanes(*columns - main, lanes), lanes);
    body.storeFull();
  }
}

void Row::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  Stages stages = findStages(frame.kernel.getBody().front());
  Kept kept = makeKept(code, frame, stages);
  cpu::Body body(code, frame);
  body.enterKernel();
  if (std::optional<int64_t> columns = frame.kernel.getColumns())
    body.beginStreams(*columns);
  Value end = code.minimum(code.multiply(last, code.integer(tile)), frame.rows(code));
  code.loop(code.multiply(first, code.integer(tile)), end, 1, [&](Value row) {
    body.enterRow(row);
    for (auto [i, stage] : llvm::enumerate(stages))
      reduceStage(code, frame, body, kept, i + 1 == stages.size(), stage);
    storeRowElements(code, frame, body);
    body.storeRow();
    if (frame.kernel.hasFinish())
      code.store(body.get(frame.kernel.getYield().getSums()[0]),
                 code.address(frame.workspace(), code.f32(), row));
  });
  body.endStreams();
}

Value Row::buildSum(Code &code, Frame &frame) const {
  return reduceMemory(code, frame.variant, Combine::Sum, frame.workspace(), frame.rows(code));
}

//===--- CUDA ---===//

/// A long row: one team per chunk, in whole warps. One whose length is a symbol may be short or
/// long: as many teams as keep a block of short rows busy and let few long ones run side by side.
Tile Row::getDefaultCudaTile(KernelOp kernel) const {
  std::optional<int64_t> columns = kernel.getColumns();
  if (!columns)
    return {64};
  if (*columns <= kChunk)
    return {128};
  int64_t teams = llvm::divideCeil(*columns, kChunk);
  return {std::min<int64_t>(256, llvm::alignTo(teams * kTeam, kWarp))};
}

FailureOr<Launch> Row::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  std::optional<int64_t> columns = kernel.getColumns();
  if (tile.size() != 1 || !isWarps(tile[0]) || (!columns && kPartials * kTeam % tile[0] != 0))
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0];
  launch.axes = {{rowsOf(kernel), columns.value_or(1) <= kChunk ? tile[0] / kTeam : 1}};
  return launch;
}

StringRef Row::getDeviceName(KernelOp kernel, CudaPlanAttr) const {
  return kernel.getColumns() ? name() : "dynamic_row";
}

/// A quotient or root that is the same in the whole row and that elements read. It follows from the
/// reductions of the first `stages` stages.
struct RowValue {
  unsigned stages;
  Value value;
};

static bool isSameInRow(KernelOp kernel, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return llvm::any_of(llvm::seq(kernel.getInputs().size()), [&](size_t i) {
      return kernel.getElement(i) == argument && isUniform(kernel, i);
    });
  Operation *op = value.getDefiningOp();
  if (isReduction(op))
    return true;
  return !isOfPlace(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
    return isSameInRow(kernel, operand);
  });
}

static bool isSlow(Operation *op) { return isa<arith::DivFOp, math::SqrtOp>(op); }

/// Whether some element needs it, and not only for a row value that needs it.
static bool isReadByElements(KernelOp kernel, Operation *op) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (isa<KernelYieldOp>(user) || isReduction(user) || !isSameInRow(kernel, user->getResult(0)))
      return true;
    return !isSlow(user) && isReadByElements(kernel, user);
  });
}

/// Compilers move no division and no root out of a loop over a row's elements.
static SmallVector<RowValue> findRowValues(KernelOp kernel) {
  Block &block = kernel.getBody().front();
  Depths depths = findDepths(block);
  SmallVector<RowValue> values;
  for (Operation &op : block.without_terminator())
    if (isSlow(&op) && isSameInRow(kernel, op.getResult(0)) && isReadByElements(kernel, &op))
      values.push_back({depths.lookup(op.getResult(0)), op.getResult(0)});
  return values;
}

static void printReductions(BodyPrinter &printer, const Stages &stages,
                            ArrayRef<Operation *> reductions, size_t rowValues) {
  raw_ostream &out = printer.out;
  out << "\n"
      << bodyConstant("kStages", static_cast<int64_t>(stages.size()))
      << bodyConstant("kReductions", static_cast<int64_t>(reductions.size()))
      << bodyConstant("kRowValues", static_cast<int64_t>(rowValues))
      << "  __device__ static constexpr int stage_begin(int stage) {\n    return ";
  size_t begin = 0;
  for (auto [i, stage] : llvm::enumerate(stages)) {
    out << "stage == " << i << " ? " << begin << " : ";
    begin += stage.size();
  }
  out << begin << ";\n  }\n"
      << "  __device__ static constexpr halftone::kernels::Reduction reduction(int index) {\n    "
         "return ";
  for (auto [i, reduction] : llvm::enumerate(reductions))
    if (isa<RowMaxOp>(reduction))
      out << "index == " << i << " ? halftone::kernels::Reduction::maximum : ";
  out << "halftone::kernels::Reduction::sum;\n  }\n";
}

static LogicalResult printContribute(BodyPrinter &printer, const Stages &stages) {
  raw_ostream &out = printer.out;
  out << "  template <int kStage, int kWidth>\n  " << kDevice
      << " void contribute(const Uniforms& uniforms, const float* reduced, const Inputs<kWidth>& "
         "inputs,\n"
      << "      int i, long long row, Column column, float* terms) const";
  if (stages.empty()) {
    out << " {}\n";
    return success();
  }
  out << " {\n";
  for (auto [i, stage] : llvm::enumerate(stages)) {
    SmallVector<Value> values;
    SmallVector<std::string> targets;
    for (Operation *reduction : stage) {
      targets.push_back("terms[" + std::to_string(values.size()) + "]");
      values.push_back(reduction->getOperand(0));
    }
    if (failed(printer.printElements("if constexpr (kStage == " + std::to_string(i) + ")", values,
                                     targets, "    ")))
      return failure();
  }
  out << "  }\n";
  return success();
}

/// The row values that follow from `stage` stages and no fewer.
static LogicalResult printDerived(BodyPrinter &printer, ArrayRef<RowValue> rowValues,
                                  unsigned stage) {
  CudaNames names = printer.uniformNames();
  SmallVector<Value> values;
  SmallVector<std::string> targets;
  for (auto [stages, value] : rowValues) {
    if (stages < stage)
      continue;
    if (stages == stage) {
      values.push_back(value);
      targets.push_back(names.at(value));
    }
    names.erase(value);
  }
  if (values.empty())
    return success();
  return printer.printUniforms("if constexpr (kStage == " + std::to_string(stage) + ")", values,
                               names, targets, "    ");
}

static LogicalResult printDerive(BodyPrinter &printer, size_t stages,
                                 ArrayRef<RowValue> rowValues) {
  printer.out << "  template <int kStage>\n  " << kDevice
              << " void derive(const Uniforms& uniforms, float* reduced) const {\n";
  for (unsigned stage = 0; stage <= stages; ++stage)
    if (failed(printDerived(printer, rowValues, stage)))
      return failure();
  printer.out << "  }\n";
  return success();
}

BodyForm Row::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  Stages stages = findStages(kernel.getBody().front());
  SmallVector<RowValue> rowValues = findRowValues(kernel);
  SmallVector<Operation *> reductions;
  for (ArrayRef<Operation *> stage : stages)
    llvm::append_range(reductions, stage);
  BodyForm form;
  form.constants =
      bodyConstant("kFinish", kernel.hasFinish()) +
      bodyConstant("kInputs", llvm::count_if(llvm::seq(kernel.getInputs().size()),
                                             [&](size_t i) { return isVarying(kernel, i); }));
  form.before = "const float* reduced, ";
  for (auto [i, reduction] : llvm::enumerate(reductions))
    form.uniforms[reduction->getResult(0)] = "reduced[" + std::to_string(i) + "]";
  for (auto [i, rowValue] : llvm::enumerate(rowValues))
    form.uniforms[rowValue.value] = "reduced[" + std::to_string(reductions.size() + i) + "]";
  form.members = [stages, reductions, rowValues](BodyPrinter &printer) {
    printReductions(printer, stages, reductions, rowValues.size());
    if (failed(printContribute(printer, stages)) ||
        failed(printDerive(printer, stages.size(), rowValues)))
      return failure();
    return printer.printStoreRow("const float* reduced");
  };
  return form;
}

} // namespace halftone::skeletons

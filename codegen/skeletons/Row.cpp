// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Row.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cpu/Trees.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/skeletons/KernelGroup.h"
#include "codegen/skeletons/RowReductions.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

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

BodyForm Row::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.constants =
      bodyConstant("kFinish", kernel.hasFinish()) +
      bodyConstant("kInputs", llvm::count_if(llvm::seq(kernel.getInputs().size()),
                                             [&](size_t i) { return isVarying(kernel, i); }));
  form.before = "const float* reduced, ";
  auto printReductions = addReductions(form, kernel);
  form.members = [printReductions](BodyPrinter &printer) {
    if (failed(printReductions(printer)))
      return failure();
    return printer.printStoreRow("const float* reduced");
  };
  return form;
}

} // namespace halftone::skeletons

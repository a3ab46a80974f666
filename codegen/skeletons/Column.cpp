// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Column.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Accesses.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr int64_t kRowsAhead = 8;  // that are fetched before they are summed
constexpr unsigned kMostLines = 2; // of a vector of columns
/// Of operations that share a kernel, since a sum takes two registers. One alone may have more.
constexpr int64_t kMostSums = 24;

Column::Column()
    : Skeleton({.word = ir::Skeleton::Column,
                .tilesColumns = true,
                .readsByAnyMap = true,
                .stores = {AccessKind::Full, AccessKind::Column, AccessKind::Window}}) {}

bool Column::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return getPhase(op) == group.phase && joinsSibling(op, group);
}

/// Whether the operation's sum goes on from what its result holds (D74).
static bool goesOn(Operation *op) {
  auto isStart = [](AccessAttr access) { return access.getKind() == AccessKind::Start; };
  return llvm::any_of(cast<KernelForm>(op).getOperandAccesses(), isStart);
}

/// The kernel's input that its sum goes on from.
static std::optional<unsigned> findStart(KernelOp kernel) {
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.getInputAccess(i).getKind() == AccessKind::Start)
      return i;
  return std::nullopt;
}

/// How many axes of a batch the operation's sums have; nothing of one that sums nothing.
static std::optional<size_t> countBatchAxesOf(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return std::nullopt;
  return countBatchAxes({}, cast<TensorType>(reduce.getOutputs()[0].getType()));
}

/// Sums over rows of one matrix share a pass over it; a bias gradient rides on its weight gradient.
bool Column::joinsSibling(KernelForm op, const KernelGroup &group) const {
  if (llvm::any_of(op->getOperands(),
                   [&](Value v) { return group.contains(getBeforeWidening(v).getDefiningOp()); }))
    return false;
  if (group.skeleton != this)
    return group.skeleton->carries(op, group);
  int64_t sums = op->getNumResults();
  bool alike = !goesOn(op);
  for (Operation *member : group.ops) {
    sums += member->getNumResults();
    alike &= !goesOn(member);
    alike &= countBatchAxesOf(member).value_or(0) == countBatchAxesOf(op).value_or(0);
  }
  return hasSameDomain(op, group) && alike && sums <= kMostSums;
}

/// How many vectors of columns go along the rows together: the more of a row is read at once, the
/// better processors fetch ahead. Their sums take up to half of the registers.
static unsigned countTogether(const Frame &frame, size_t sums) {
  constexpr size_t kMostOperations = 48, kMost = 4;
  KernelOp kernel = frame.kernel;
  const CpuVariant &variant = frame.variant;
  size_t registers = variant.vectorLanes == 16 ? 16 : 8;
  size_t needed = std::max<size_t>(1, sums * variant.bodyLanes / variant.vectorLanes);
  bool isGeneral = llvm::any_of(llvm::seq(kernel.getInputs().size()), [&](size_t i) {
    return kernel.getInputAccess(i).getKind() == AccessKind::General;
  });
  if (isGeneral || kernel.getBody().front().getOperations().size() > kMostOperations)
    return 1;
  return static_cast<unsigned>(std::clamp<size_t>(registers / needed, 1, kMost));
}

Tile Column::getDefaultCpuTile(KernelOp) const { return {64}; }

LogicalResult Column::verify(KernelOp kernel) const {
  for (unsigned i = 0; i < kernel.getStored().size(); ++i)
    if (kernel.getResultAccess(i).getKind() == AccessKind::Column &&
        countBatchAxes({}, cast<TensorType>(kernel.getStored()[i].getType())) !=
            kernel.getBatchDims().size())
      return kernel.emitOpError("has sums of several batches; split it into several kernels");
  if (findStart(kernel) &&
      (countStoredAs(kernel, AccessKind::Column) != 1 || !kernel.getBatchDims().empty()))
    return kernel.emitOpError("goes on from what its result holds, so that it has one sum and no "
                              "batch; split it into several kernels");
  return Skeleton::verify(kernel);
}

/// Elements of the batch, if there is one, and tiles of columns.
static SmallVector<Axis> axesOf(KernelOp kernel, int64_t columns) {
  SmallVector<Axis> axes;
  if (ArrayRef<Attribute> batch = kernel.getBatchDims(); !batch.empty())
    axes.push_back({Dims(batch), 1});
  axes.push_back({Dims(kernel.getDomain().getValue().take_back()), columns});
  return axes;
}

SmallVector<Axis> Column::getTaskAxes(KernelOp kernel) const {
  return axesOf(kernel, (*kernel.getCpuTile())[0]);
}

void Column::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  unsigned lanes = frame.variant.bodyLanes;
  SmallVector<unsigned> sumsOf;
  for (unsigned i = 0; i < frame.kernel.getStored().size(); ++i)
    if (frame.kernel.getResultAccess(i).getKind() == AccessKind::Column)
      sumsOf.push_back(i);
  cpu::Body body(code, frame);
  body.enterKernel();
  ArrayRef<Attribute> batch = frame.kernel.getBatchDims();
  std::optional<unsigned> start = findStart(frame.kernel);
  Value rows =
      frame.product(code, frame.kernel.getDomainType().getRowDims().drop_front(batch.size()));
  Value columns = frame.columns(code);
  auto add = [&](ValueRange sums, ValueRange values) {
    Values next;
    for (auto [sum, value] : llvm::zip(sums, values))
      next.push_back(arith::AddFOp::create(code.builder, code.loc, sum, value));
    return next;
  };
  // Of the rows from `firstRow` on, into what begins at `place` of the results.
  auto sumColumns = [&](Value firstRow, Value place, Value from, unsigned vectors) {
    auto columnOf = [&](unsigned vector) { return code.add(from, code.integer(vector * lanes)); };
    Value mask = vectors > 1 || frame.fillsRows(lanes)
                     ? Value()
                     : code.firstLanes(code.subtract(columns, from), lanes);
    Values zeros(vectors * sumsOf.size(), code.splat(0.0f, lanes));
    Value lastRow = code.add(firstRow, rows);
    Values before = zeros;
    if (start)
      for (unsigned vector = 0; vector < vectors; ++vector)
        before[vector] =
            code.load(code.vector(code.f32(), lanes),
                      code.address(frame.input(*start), code.f32(), columnOf(vector)), mask);
    Values totals =
        code.loop(firstRow, lastRow, kSumChunk, before, [&](Value chunk, ValueRange totalsSoFar) {
          Value chunkEnd = code.minimum(code.add(chunk, code.integer(kSumChunk)), lastRow);
          Values sums = code.loop(chunk, chunkEnd, 1, zeros, [&](Value row, ValueRange sumsSoFar) {
            body.enterRow(row);
            Values values;
            for (unsigned vector = 0; vector < vectors; ++vector) {
              body.enterElement(columnOf(vector), mask, lanes);
              for (unsigned line = 0; vectors > 1 && line < kMostLines; ++line)
                body.fetchAhead(kRowsAhead, line);
              for (unsigned result : sumsOf)
                values.push_back(body.getVector(frame.kernel.getYield().getStores()[result]));
              body.storeFull();
            }
            return add(sumsSoFar, values);
          });
          return add(totalsSoFar, sums);
        });
    for (unsigned i = 0; i < totals.size(); ++i)
      code.store(totals[i],
                 code.address(frame.stored(sumsOf[i % sumsOf.size()]), code.f32(),
                              code.add(place, columnOf(static_cast<unsigned>(i / sumsOf.size())))),
                 mask);
  };
  unsigned together = countTogether(frame, sumsOf.size());
  auto sumTiles = [&](Value firstRow, Value place, Value firstTile, Value lastTile) {
    Value begin = code.multiply(firstTile, code.integer(tile)),
          end = code.minimum(code.multiply(lastTile, code.integer(tile)), columns);
    Value wideEnd = begin;
    if (together > 1) {
      int64_t width = int64_t{together} * lanes;
      wideEnd = code.add(begin, code.roundDown(code.subtract(end, begin), width));
      code.loop(begin, wideEnd, width,
                [&](Value column) { sumColumns(firstRow, place, column, together); });
    }
    code.loop(wideEnd, end, lanes, [&](Value column) { sumColumns(firstRow, place, column, 1); });
  };
  if (batch.empty())
    return sumTiles(code.integer(0), code.integer(0), first, last);
  Value tiles = code.divide(code.add(columns, code.integer(tile - 1)), tile);
  code.loop(first, last, 1, [&](Value task) {
    Value element = code.divide(task, tiles);
    Value column = code.remainder(task, tiles);
    sumTiles(code.multiply(element, rows), code.multiply(element, columns), column,
             code.add(column, code.integer(1)));
  });
}

/// What all threads of a block leave of their chunks.
static int64_t getSharedBytes(KernelOp kernel, ArrayRef<int64_t> tile) {
  return countStoredAs(kernel, AccessKind::Column) * tile[0] * tile[1] * 4;
}

/// 512 threads have 64 registers each, where more than 12 sums spill; 8 chunks of 48 fill a block's
/// memory.
Tile Column::getDefaultCudaTile(KernelOp kernel) const {
  int64_t sums = countStoredAs(kernel, AccessKind::Column);
  return {kWarp, sums <= 12 ? 16 : sums <= 48 ? 8 : 4};
}

/// Where an SM has one block at most and that has chunks for it: as many threads as a block may
/// have, on as many SMs as narrower blocks reach.
void Column::addPlans(PlanList &plans) const {
  constexpr int64_t kManyChunks = 32, kFewSums = 4, kThreads = 1024, kWidths[] = {32, 16, 8};
  constexpr double kSector = 32, kHalfBytes = 2;
  KernelOp kernel = plans.kernel;
  CudaPlanAttr standard = getDefaultPlan(kernel);
  std::optional<int64_t> columns = kernel.getColumns();
  double rows = plans.extent(Dims(kernel.getDomainType().getRowDims()));
  auto blocksOf = [&](int64_t width) {
    return std::ceil(static_cast<double>(columns.value_or(0)) / static_cast<double>(width));
  };
  if (kernel.getCudaTile() || !columns || !kernel.getBatchDims().empty() ||
      countStoredAs(kernel, AccessKind::Column) > kFewSums || plans.chip.threadsPerSm < 2048 ||
      rows < kManyChunks * kSumChunk || blocksOf(kWarp) > plans.chip.sms)
    return Skeleton::addPlans(plans);
  for (int64_t width : kWidths) {
    if (blocksOf(width) > plans.chip.sms)
      break;
    Problem problem = plans.problem; // rows of a block that fill no sector are read again
    problem.bytes *= std::max(1.0, kSector / (kHalfBytes * static_cast<double>(width)));
    int64_t chunks = kThreads / width;
    while (chunks > kManyChunks && static_cast<double>(chunks / 2 * kSumChunk) >= rows)
      chunks /= 2;
    plans.add(standard.getKind(), {width, chunks}, 1, 1,
              estimateElements(plans.chip, problem, blocksOf(width),
                               static_cast<double>(width * chunks)));
  }
}

FailureOr<Launch> Column::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 2 || tile[0] <= 0 || tile[1] <= 0 || !isWarps(tile[0] * tile[1]) ||
      getSharedBytes(kernel, tile) > kStaticShared)
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0] * tile[1];
  launch.axes = axesOf(kernel, tile[0]);
  return launch;
}

StringRef Column::getDeviceName(KernelOp kernel, CudaPlanAttr) const {
  if (!kernel.getBatchDims().empty())
    return "batched_column";
  return kernel.getColumns() ? name() : "dynamic_column";
}

BodyForm Column::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.constants = bodyConstant("kSums", countStoredAs(kernel, AccessKind::Column));
  form.after = ", float* terms";
  form.members = [](BodyPrinter &printer) {
    bool isBatch = !printer.kernel.getBatchDims().empty();
    printer.out << "  " << kDevice << " void store_column("
                << (isBatch ? "long long element, " : "")
                << "int column, const float* totals) const {\n";
    StringRef place = isBatch ? "element * columns() + column" : "column";
    unsigned total = 0;
    // What earlier chunks left is added last: ChunkRows has refused the model where order is law.
    StringRef before = findStart(printer.kernel) ? "start[column] + " : "";
    for (unsigned i = 0; i < printer.kernel.getStored().size(); ++i)
      if (isStoredAs(printer.kernel, i, AccessKind::Column))
        printer.out << "    result" << i << "[" << place << "] = " << before << "totals[" << total++
                    << "];\n";
    printer.out << "  }\n";
    return success();
  };
  return form;
}

} // namespace halftone::skeletons

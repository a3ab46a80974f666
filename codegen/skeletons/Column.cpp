// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Column.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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
                .stores = {AccessKind::Full, AccessKind::Column}}) {}

bool Column::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return getPhase(op) == group.phase && joinsSibling(op, group);
}

/// Sums over rows of one matrix share a pass over it; a bias gradient rides on its weight gradient.
bool Column::joinsSibling(KernelForm op, const KernelGroup &group) const {
  if (llvm::any_of(op->getOperands(),
                   [&](Value v) { return group.contains(getBeforeWidening(v).getDefiningOp()); }))
    return false;
  if (group.skeleton != this)
    return group.skeleton->carries(op, group);
  int64_t sums = op->getNumResults();
  for (Operation *member : group.ops)
    sums += member->getNumResults();
  return hasSameDomain(op, group) && sums <= kMostSums;
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

SmallVector<Axis> Column::getTaskAxes(KernelOp kernel) const {
  return {{Dims(kernel.getDomain().getValue().take_back()), (*kernel.getCpuTile())[0]}};
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
  Value rows = frame.rows(code), columns = frame.columns(code);
  auto add = [&](ValueRange sums, ValueRange values) {
    Values next;
    for (auto [sum, value] : llvm::zip(sums, values))
      next.push_back(arith::AddFOp::create(code.builder, code.loc, sum, value));
    return next;
  };
  auto sumColumns = [&](Value from, unsigned vectors) {
    auto columnOf = [&](unsigned vector) { return code.add(from, code.integer(vector * lanes)); };
    Value mask = vectors > 1 || frame.fillsRows(lanes)
                     ? Value()
                     : code.firstLanes(code.subtract(columns, from), lanes);
    Values zeros(vectors * sumsOf.size(), code.splat(0.0f, lanes));
    Values totals = code.loop(
        code.integer(0), rows, kSumChunk, zeros, [&](Value chunk, ValueRange totalsSoFar) {
          Value chunkEnd = code.minimum(code.add(chunk, code.integer(kSumChunk)), rows);
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
                              columnOf(static_cast<unsigned>(i / sumsOf.size()))),
                 mask);
  };
  unsigned together = countTogether(frame, sumsOf.size());
  Value begin = code.multiply(first, code.integer(tile)),
        end = code.minimum(code.multiply(last, code.integer(tile)), columns);
  Value wideEnd = begin;
  if (together > 1) {
    int64_t width = int64_t{together} * lanes;
    wideEnd = code.add(begin, code.roundDown(code.subtract(end, begin), width));
    code.loop(begin, wideEnd, width, [&](Value column) { sumColumns(column, together); });
  }
  code.loop(wideEnd, end, lanes, [&](Value column) { sumColumns(column, 1); });
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

FailureOr<Launch> Column::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 2 || tile[0] <= 0 || tile[1] <= 0 || !isWarps(tile[0] * tile[1]) ||
      getSharedBytes(kernel, tile) > kStaticShared)
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0] * tile[1];
  launch.axes = {{Dims(kernel.getDomain().getValue().take_back()), tile[0]}};
  return launch;
}

StringRef Column::getDeviceName(KernelOp kernel, CudaPlanAttr) const {
  return kernel.getColumns() ? name() : "dynamic_column";
}

BodyForm Column::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.constants = bodyConstant("kSums", countStoredAs(kernel, AccessKind::Column));
  form.after = ", float* terms";
  form.members = [](BodyPrinter &printer) {
    printer.out << "  " << kDevice
                << " void store_column(int column, const float* totals) const {\n";
    unsigned total = 0;
    for (unsigned i = 0; i < printer.kernel.getStored().size(); ++i)
      if (isStoredAs(printer.kernel, i, AccessKind::Column))
        printer.out << "    result" << i << "[column] = totals[" << total++ << "];\n";
    printer.out << "  }\n";
    return success();
  };
  return form;
}

} // namespace halftone::skeletons

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

constexpr int64_t kRowChunk = 128; // N3
constexpr int64_t kStaticSharedBytes = 48 * 1024;
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
  Values zeros(sumsOf.size(), code.splat(0.0f, lanes));
  auto add = [&](ValueRange sums, ValueRange values) {
    Values next;
    for (auto [sum, value] : llvm::zip(sums, values))
      next.push_back(arith::AddFOp::create(code.builder, code.loc, sum, value));
    return next;
  };
  Value end = code.minimum(code.multiply(last, code.integer(tile)), columns);
  code.loop(code.multiply(first, code.integer(tile)), end, lanes, [&](Value column) {
    Value mask =
        frame.fillsRows(lanes) ? Value() : code.firstLanes(code.subtract(columns, column), lanes);
    Values totals = code.loop(
        code.integer(0), rows, kRowChunk, zeros, [&](Value chunk, ValueRange totalsSoFar) {
          Value chunkEnd = code.minimum(code.add(chunk, code.integer(kRowChunk)), rows);
          Values sums = code.loop(chunk, chunkEnd, 1, zeros, [&](Value row, ValueRange sumsSoFar) {
            body.enterRow(row);
            body.enterElement(column, mask, lanes);
            Values values;
            for (unsigned result : sumsOf)
              values.push_back(body.getVector(frame.kernel.getYield().getStores()[result]));
            body.storeFull();
            return add(sumsSoFar, values);
          });
          return add(totalsSoFar, sums);
        });
    for (auto [result, total] : llvm::zip(sumsOf, totals))
      code.store(total, code.address(frame.stored(result), code.f32(), column), mask);
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

FailureOr<Launch> Column::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 2 || tile[0] <= 0 || tile[1] <= 0 || !isWarps(tile[0] * tile[1]) ||
      getSharedBytes(kernel, tile) > kStaticSharedBytes)
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

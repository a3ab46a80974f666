// SPDX-License-Identifier: Apache-2.0
// Row kernels: passes over a row, one for every level of reductions, then one that stores. Column
// kernels: chains down the rows.
#include "codegen/emit/cpu/Skeletons.h"
#include "codegen/emit/cpu/Trees.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::cpu {

namespace {

constexpr int64_t kRowChunk = 128; // N3

/// The reductions of a body by level: those of a level need results of earlier levels only.
SmallVector<SmallVector<Operation *>> reductionLevels(Block &block) {
  llvm::DenseMap<Value, unsigned> level;
  SmallVector<SmallVector<Operation *>> levels;
  for (Operation &op : block.without_terminator()) {
    unsigned deepest = 0;
    for (Value operand : op.getOperands())
      deepest = std::max(deepest, level.lookup(operand));
    if (isa<RowSumOp, RowMaxOp>(op)) {
      if (levels.size() <= deepest)
        levels.resize(deepest + 1);
      levels[deepest++].push_back(&op);
    }
    level[op.getResult(0)] = deepest;
  }
  return levels;
}

void reduceLevel(Code &code, Frame &frame, Body &body, ArrayRef<Operation *> reductions) {
  SmallVector<Combine> combines;
  for (Operation *op : reductions)
    combines.push_back(isa<RowSumOp>(op) ? Combine::Sum : Combine::Maximum);
  Values results = reduceRow(code, frame.variant, combines, frame.columns(),
                             [&](Value column, Value mask, unsigned lanes) {
                               body.enterElement(column, mask, lanes);
                               Values values;
                               for (Operation *op : reductions)
                                 values.push_back(body.getVector(op->getOperand(0)));
                               return values;
                             });
  for (auto [op, result] : llvm::zip(reductions, results))
    body.knowRow(op->getResult(0), result);
}

void storeRowElements(Code &code, Frame &frame, Body &body) {
  if (!hasResults(frame.kernel, AccessKind::Full))
    return;
  unsigned lanes = frame.variant.bodyLanes;
  int64_t main = frame.columns() / lanes * lanes;
  if (main > 0)
    code.loop(code.integer(0), code.integer(main), lanes, [&](Value column) {
      body.enterElement(column, {}, lanes);
      body.storeFull();
    });
  if (frame.columns() > main) {
    body.enterElement(code.integer(main), code.firstLanes(frame.columns() - main, lanes), lanes);
    body.storeFull();
  }
}

} // namespace

void buildRows(Code &code, Frame &frame, Value first, Value last) {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  auto levels = reductionLevels(frame.kernel.getBody().front());
  Body body(code, frame);
  body.enterKernel();
  Value end = code.minimum(code.multiply(last, code.integer(tile)), frame.rows(code));
  code.loop(code.multiply(first, code.integer(tile)), end, 1, [&](Value row) {
    body.enterRow(row);
    for (auto &level : levels)
      reduceLevel(code, frame, body, level);
    storeRowElements(code, frame, body);
    body.storeRow();
    if (frame.kernel.hasFinish())
      code.store(body.get(frame.kernel.getYield().getSums()[0]),
                 code.address(frame.workspace(), code.f32(), row));
  });
}

void buildColumns(Code &code, Frame &frame, Value first, Value last) {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  unsigned lanes = frame.variant.bodyLanes;
  SmallVector<unsigned> sumsOf;
  for (unsigned i = 0; i < frame.kernel.getStored().size(); ++i)
    if (frame.kernel.getResultAccess(i).getKind() == AccessKind::Column)
      sumsOf.push_back(i);
  Body body(code, frame);
  body.enterKernel();
  Value rows = frame.rows(code), columns = code.integer(frame.columns());
  Values zeros(sumsOf.size(), code.splat(0.0f, lanes));
  auto add = [&](ValueRange sums, ValueRange values) {
    Values next;
    for (auto [sum, value] : llvm::zip(sums, values))
      next.push_back(arith::AddFOp::create(code.builder, code.loc, sum, value));
    return next;
  };
  Value end = code.minimum(code.multiply(last, code.integer(tile)), columns);
  code.loop(code.multiply(first, code.integer(tile)), end, lanes, [&](Value column) {
    Value mask = frame.columns() % lanes == 0
                     ? Value()
                     : code.firstLanes(code.subtract(columns, column), lanes);
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

} // namespace halftone::cpu

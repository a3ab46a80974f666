// SPDX-License-Identifier: Apache-2.0
// Pointwise and flat kernels: no element depends on another, but for the sum of all.
#include "codegen/emit/cpu/Casts.h"
#include "codegen/emit/cpu/Skeletons.h"
#include "codegen/emit/cpu/Trees.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::cpu {

/// Columns [begin, end) of the present row.
static void storeRange(Code &code, Frame &frame, Body &body, Value begin, Value end) {
  unsigned lanes = frame.variant.bodyLanes;
  Value main = code.add(begin, code.roundDown(code.subtract(end, begin), lanes));
  code.loop(begin, main, lanes, [&](Value column) {
    body.enterElement(column, {}, lanes);
    body.storeFull();
  });
  code.when(code.less(main, end), [&] {
    body.enterElement(main, code.firstLanes(code.subtract(end, main), lanes), lanes);
    body.storeFull();
  });
}

void buildElementwise(Code &code, Frame &frame, Value first, Value last) {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  Body body(code, frame);
  body.enterKernel();
  Value begin = code.multiply(first, code.integer(tile)),
        end = code.multiply(last, code.integer(tile));
  if (isFlat(frame.kernel)) {
    body.enterRow({});
    storeRange(code, frame, body, begin, code.minimum(end, frame.elements(code)));
    return;
  }
  code.loop(begin, code.minimum(end, frame.rows(code)), 1, [&](Value row) {
    body.enterRow(row);
    storeRange(code, frame, body, code.integer(0), code.integer(frame.columns()));
  });
}

void buildFlat(Code &code, Frame &frame, Value first, Value last) {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  Body body(code, frame);
  body.enterKernel();
  body.enterRow({});
  Value elements = frame.elements(code);
  Value end =
      code.minimum(code.multiply(last, code.integer(tile)), code.ceilDivide(elements, kChunk));
  code.loop(code.multiply(first, code.integer(tile)), end, 1, [&](Value chunk) {
    Value begin = code.multiply(chunk, code.integer(kChunk));
    Value count = code.minimum(code.integer(kChunk), code.subtract(elements, begin));
    Value sum = reduceChunk(code, frame.variant, {Combine::Sum}, begin, count,
                            [&](Value column, Value mask, unsigned lanes) {
                              body.enterElement(column, mask, lanes);
                              Value value = body.getVector(frame.kernel.getYield().getSums()[0]);
                              body.storeFull();
                              return Values{value};
                            })[0];
    code.store(sum, code.address(frame.workspace(), code.f32(), chunk));
  });
}

void buildFinish(Code &code, Frame &frame) {
  bool rows = frame.kernel.getSkeleton() == Skeleton::Row;
  Value count = rows ? frame.rows(code) : code.ceilDivide(frame.elements(code), kChunk);
  Value sum;
  if (rows) {
    sum = reduceMemory(code, frame.variant, Combine::Sum, frame.workspace(), count);
  } else {
    // One chunk is the whole sum: there is no level above it.
    Value only = code.load(code.f32(), frame.workspace());
    sum = code.when(code.less(code.integer(1), count), {only}, [&] {
      return Values{reduceMemory(code, frame.variant, Combine::Sum, frame.workspace(), count)};
    })[0];
  }
  IRMapping mapping;
  Block &block = frame.kernel.getFinish().front();
  mapping.map(block.getArgument(0), sum);
  unsigned argument = 1;
  for (unsigned i = 0; i < frame.kernel.getInputs().size(); ++i)
    if (frame.kernel.getInputAccess(i).getKind() == AccessKind::Scalar) {
      Type type = block.getArgument(argument).getType();
      mapping.map(block.getArgument(argument++), code.load(storageOf(type), frame.input(i)));
    }
  for (Operation &op : block.without_terminator()) {
    Values operands;
    for (Value operand : op.getOperands())
      operands.push_back(mapping.lookup(operand));
    mapping.map(op.getResult(0), buildOperation(code, frame, &op, operands, 0));
  }
  for (auto [i, value] : llvm::enumerate(frame.kernel.getFinishYield().getValues()))
    code.store(mapping.lookup(value), frame.finished(i));
}

} // namespace halftone::cpu

// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Pointwise.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/skeletons/KernelGroup.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr int64_t kElementsPerTask = 16384; // about ten microseconds of a short body
constexpr int64_t kPerThread = 4;

Pointwise::Pointwise()
    : Skeleton({.word = ir::Skeleton::Pointwise,
                .elementwise = true,
                .takesElements = true,
                .takesAnyShape = true,
                .readsByAnyMap = true,
                .replacesOperands = true}) {}

bool Pointwise::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return hasSameDomain(op, group) && accessesAgree(op, group) &&
         group.skeleton->traits().takesElements;
}

Tile Pointwise::getDefaultCpuTile(KernelOp kernel) const {
  return {isOneRow(kernel) ? kElementsPerTask
                           : std::max<int64_t>(1, kElementsPerTask / kernel.getColumns())};
}

SmallVector<Axis> Pointwise::getTaskAxes(KernelOp kernel) const {
  ArrayRef<Attribute> domain = kernel.getDomain().getValue();
  return {{Dims(isOneRow(kernel) ? domain : domain.drop_back()), (*kernel.getCpuTile())[0]}};
}

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

void Pointwise::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  Body body(code, frame);
  body.enterKernel();
  Value begin = code.multiply(first, code.integer(tile)),
        end = code.multiply(last, code.integer(tile));
  if (isOneRow(frame.kernel)) {
    body.enterRow({});
    storeRange(code, frame, body, begin, code.minimum(end, frame.elements(code)));
    return;
  }
  code.loop(begin, code.minimum(end, frame.rows(code)), 1, [&](Value row) {
    body.enterRow(row);
    storeRange(code, frame, body, code.integer(0), code.integer(frame.columns()));
  });
}

Tile Pointwise::getDefaultCudaTile(KernelOp) const { return {256}; }

/// Every row in whole groups of four.
FailureOr<Launch> Pointwise::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || !isWarps(tile[0]))
    return refuseTile(kernel);
  Dims padded(kernel.getDomainType().getRowDims());
  int64_t columns = kernel.getColumns();
  padded.push_back(Builder(kernel).getI64IntegerAttr(
      isOneRow(kernel) ? columns : static_cast<int64_t>(llvm::alignTo(columns, kPerThread))));
  Launch launch;
  launch.threads = tile[0];
  launch.axes = {{padded, kPerThread * tile[0]}};
  return launch;
}

BodyForm Pointwise::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.oneRow = isOneRow(kernel);
  form.constants = bodyConstant("kCollapsed", form.oneRow);
  return form;
}

} // namespace halftone::skeletons

// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Flat.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cpu/Trees.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/skeletons/KernelGroup.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr int64_t kChunksPerTask = 16;

Flat::Flat() : Skeleton({.word = ir::Skeleton::Flat, .finish = Finish::Always}) {}

/// The sum of what a pointwise kernel computes, if nobody else wants that and nothing depends on
/// where rows begin.
static bool sumsElements(KernelForm op, const KernelGroup &group) {
  KernelGroup both = group;
  both.ops.push_back(op);
  auto usedHereOnly = [&](Operation *member) {
    return llvm::none_of(member->getResults(),
                         [&](Value result) { return isReadOutside(result, both); }) &&
           llvm::all_of(cast<KernelForm>(member).getOperandAccesses(), [](AccessAttr access) {
             return access.getKind() == AccessKind::Full || access.getKind() == AccessKind::Scalar;
           });
  };
  return hasSameDomain(op, group) && group.skeleton->traits().elementwise &&
         accessesAgree(op, group) && llvm::all_of(group.ops, usedHereOnly);
}

/// The sum of what a row kernel computes per row.
static bool sumsRows(KernelForm op, const KernelGroup &group) {
  const Traits &traits = group.skeleton->traits();
  if (traits.finish != Finish::Possible || traits.sumsProducts || group.hasFinish)
    return false;
  auto x = cast<OpResult>(getBeforeWidening(op->getOperand(0)));
  return group.contains(x.getOwner()) && getResultAccessIn(group, x).getKind() == AccessKind::Row;
}

bool Flat::joinsProducer(KernelForm op, const KernelGroup &group) const {
  if (op->hasAttr(kMaximumAttr))
    return group.skeleton->carries(op, group);
  return sumsElements(op, group) || sumsRows(op, group);
}

/// One per chunk; with a symbolic extent an upper bound of that.
Dims Flat::getSummands(KernelOp kernel) const {
  TensorType domain = kernel.getDomainType();
  Builder builder(kernel);
  if (std::optional<int64_t> elements = domain.getStaticElements())
    return {builder.getI64IntegerAttr(llvm::divideCeil(*elements, kChunk))};
  Dims dims(domain.getDims());
  if (std::optional<int64_t> columns = domain.getColumns())
    dims.back() = builder.getI64IntegerAttr(llvm::divideCeil(*columns, kChunk));
  return dims;
}

Tile Flat::getDefaultCpuTile(KernelOp) const { return {kChunksPerTask}; }

SmallVector<Axis> Flat::getTaskAxes(KernelOp kernel) const {
  return {{Dims(kernel.getDomain().getValue()), (*kernel.getCpuTile())[0] * kChunk}};
}

static LogicalResult refuseRows(KernelOp kernel) {
  return kernel.emitOpError("sums elements of rows and columns; only full and scalar accesses "
                            "can be summed flat: make it a "
                            "row kernel, or two kernels");
}

LogicalResult Flat::verify(KernelOp kernel) const {
  return kernel.getColumns() || isOneRow(kernel) ? Skeleton::verify(kernel) : refuseRows(kernel);
}

LogicalResult Flat::verifyCpu(KernelOp kernel) const {
  return isOneRow(kernel) ? success() : refuseRows(kernel);
}

void Flat::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  cpu::Body body(code, frame);
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

/// One chunk is the whole sum: there is no level above it.
Value Flat::buildSum(Code &code, Frame &frame) const {
  Value count = code.ceilDivide(frame.elements(code), kChunk);
  Value only = code.load(code.f32(), frame.workspace());
  return code.when(code.less(code.integer(1), count), {only}, [&] {
    return Values{reduceMemory(code, frame.variant, Combine::Sum, frame.workspace(), count)};
  })[0];
}

Tile Flat::getDefaultCudaTile(KernelOp) const { return {128}; }

FailureOr<Launch> Flat::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || !isWarps(tile[0]))
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0];
  launch.axes = {{Dims(kernel.getDomain().getValue()), kChunk * tile[0] / kTeam}};
  return launch;
}

BodyForm Flat::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.oneRow = isOneRow(kernel);
  form.constants = bodyConstant("kCollapsed", form.oneRow);
  form.after = ", float& term";
  form.terms = {{kernel.getYield().getSums().front(), "term"}};
  return form;
}

} // namespace halftone::skeletons

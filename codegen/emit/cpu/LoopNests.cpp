// SPDX-License-Identifier: Apache-2.0
// Functions and tasks; the loop nests themselves are their skeletons'.
#include "codegen/emit/cpu/LoopNests.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cpu/Casts.h"
#include "codegen/skeletons/Skeletons.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace halftone::ir;
using halftone::skeletons::kColumnStep;

namespace halftone::cpu {

const CpuVariant &codeVariant(KernelOp kernel, const CpuVariant &variant) {
  if (variant.widensBf16() || skeletons::of(kernel).multipliesPairs(kernel))
    return variant;
  return *findCpuVariant(variant.others);
}

std::string entryName(KernelOp kernel, const CpuVariant &variant) {
  return (kernel.getName() + "__" + codeVariant(kernel, variant).suffix).str();
}

std::string finishName(KernelOp kernel, const CpuVariant &variant) {
  return entryName(kernel, variant) + "_finish";
}

static void buildTasks(Code &code, Frame &frame, Value first, Value last) {
  skeletons::of(frame.kernel).buildTasks(code, frame, first, last);
}

/// The finish region, after all tasks.
static void buildFinish(Code &code, Frame &frame, Value, Value) {
  IRMapping mapping;
  Block &block = frame.kernel.getFinish().front();
  mapping.map(block.getArgument(0), skeletons::of(frame.kernel).buildSum(code, frame));
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

static void buildFunction(KernelOp kernel, const CpuVariant &variant, ArrayRef<std::string> symbols,
                          ModuleOp destination, StringRef name,
                          function_ref<void(Code &, Frame &, Value, Value)> fill) {
  OpBuilder builder = OpBuilder::atBlockEnd(destination.getBody());
  Location loc = builder.getUnknownLoc();
  Type pointer = Code(builder, loc).pointer(), i64 = builder.getI64Type();
  auto function = func::FuncOp::create(
      builder, loc, name, builder.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  function->setAttr("halftone.variant", builder.getStringAttr(variant.name));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(entry->getTerminator());
  Code code(builder, loc);
  Frame frame{kernel, variant, symbols, entry->getArgument(1), entry->getArgument(4), {}, {}};
  size_t arguments = kernel.getInputs().size() + kernel->getNumResults() + kernel.hasFinish();
  for (size_t i = 0; i < arguments; ++i)
    frame.pointers.push_back(
        code.load(pointer, code.address(entry->getArgument(0), pointer,
                                        code.integer(static_cast<int64_t>(i)))));
  if (!kernel.getColumns())
    frame.symbolicColumns = frame.product(code, kernel.getDomain().getValue().take_back());
  fill(code, frame, entry->getArgument(2), entry->getArgument(3));
}

/// Tasks must cover whole vectors: two tasks never write one element.
static LogicalResult checkTile(KernelOp kernel) {
  ArrayRef<int64_t> tile = *kernel.getCpuTile();
  const skeletons::Skeleton &skeleton = skeletons::of(kernel);
  size_t wanted = skeleton.getDefaultCpuTile(kernel).size();
  if (tile.size() != wanted || llvm::any_of(tile, [](int64_t extent) { return extent <= 0; }))
    return kernel.emitOpError() << "wants a cpu_tile of " << wanted << " positive extents";
  if (skeleton.traits().tilesColumns && tile.back() % kColumnStep != 0)
    return kernel.emitOpError() << "wants a cpu_tile with a multiple of " << kColumnStep
                                << " columns, not " << tile.back();
  return success();
}

/// A column's sum is made after the body, so nothing could round it.
static LogicalResult checkSums(KernelOp kernel) {
  for (auto [i, result] : llvm::enumerate(kernel.getStored())) {
    Type element = cast<ir::TensorType>(result.getType()).getElementType();
    if (kernel.getResultAccess(i).getKind() == AccessKind::Column && !element.isF32())
      return kernel.emitOpError() << "sums columns into " << element
                                  << "; sums are f32: round them in another kernel";
  }
  return success();
}

LogicalResult buildCpuKernel(KernelOp kernel, const CpuVariant &variant,
                             ArrayRef<std::string> symbols, ModuleOp destination) {
  if (!kernel.getCpuTile())
    return kernel.emitOpError("has no cpu_tile: run PlanTiles first");
  const skeletons::Skeleton &skeleton = skeletons::of(kernel);
  if (failed(skeleton.verify(kernel)) || failed(skeleton.verifyCpu(kernel)) ||
      failed(checkTile(kernel)) || failed(verifyCasts(kernel)) || failed(checkSums(kernel)))
    return failure();
  std::string name = entryName(kernel, variant);
  if (destination.lookupSymbol(name))
    return success();
  const CpuVariant &built = codeVariant(kernel, variant);
  buildFunction(kernel, built, symbols, destination, name, buildTasks);
  if (kernel.hasFinish())
    buildFunction(kernel, built, symbols, destination, finishName(kernel, built), buildFinish);
  return success();
}

} // namespace halftone::cpu

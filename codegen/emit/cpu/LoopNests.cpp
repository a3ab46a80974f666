// SPDX-License-Identifier: Apache-2.0
// Functions, tiles and tasks; the loop nests themselves are one file per skeleton.
#include "codegen/emit/cpu/LoopNests.h"

#include "codegen/emit/cpu/Casts.h"
#include "codegen/emit/cpu/Skeletons.h"
#include "codegen/emit/cpu/Trees.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::cpu {

std::string entryName(KernelOp kernel, const CpuVariant &variant) {
  return (kernel.getName() + "__" + variant.suffix).str();
}

std::string finishName(KernelOp kernel, const CpuVariant &variant) {
  return entryName(kernel, variant) + "_finish";
}

static constexpr int64_t kColumnStep = 16; // a multiple of every variant's lanes

SmallVector<int64_t> defaultCpuTile(KernelOp kernel) {
  constexpr int64_t kElementsPerTask = 16384; // about ten microseconds of a short body
  int64_t columns = kernel.getColumns();
  switch (kernel.getSkeleton()) {
  case Skeleton::Pointwise:
    return {isFlat(kernel) ? kElementsPerTask : std::max<int64_t>(1, kElementsPerTask / columns)};
  case Skeleton::Row:
    return {std::max<int64_t>(1, kElementsPerTask / 4 / columns)};
  case Skeleton::Column:
    return {64};
  case Skeleton::Flat:
    return {kElementsPerTask / kChunk};
  case Skeleton::Contraction:
    return {48, std::min<int64_t>(llvm::alignTo(columns, kColumnStep), 64)};
  }
  llvm_unreachable("all skeletons are listed");
}

std::vector<manifest::TaskAxis> taskAxes(KernelOp kernel, ArrayRef<std::string> symbols) {
  auto dimensions = [&](ArrayRef<Attribute> dims) {
    std::vector<manifest::Dimension> list;
    for (Attribute dim : dims) {
      if (auto extent = dyn_cast<IntegerAttr>(dim)) {
        list.push_back({extent.getInt(), -1});
        continue;
      }
      auto symbol = llvm::find(symbols, cast<StringAttr>(dim).getValue());
      list.push_back({1, static_cast<int32_t>(symbol - symbols.begin())});
    }
    return list;
  };
  ArrayRef<Attribute> domain = kernel.getDomain().getValue();
  ArrayRef<int64_t> tile = *kernel.getCpuTile();
  switch (kernel.getSkeleton()) {
  case Skeleton::Pointwise:
    return {{dimensions(isFlat(kernel) ? domain : domain.drop_back()), tile[0]}};
  case Skeleton::Row:
    return {{dimensions(domain.drop_back()), tile[0]}};
  case Skeleton::Column:
    return {{dimensions(domain.take_back()), tile[0]}};
  case Skeleton::Flat:
    return {{dimensions(domain), tile[0] * kChunk}};
  case Skeleton::Contraction:
    return {{dimensions(domain.drop_back()), tile[0]}, {dimensions(domain.take_back()), tile[1]}};
  }
  llvm_unreachable("all skeletons are listed");
}

static void buildTasks(Code &code, Frame &frame, Value first, Value last) {
  switch (frame.kernel.getSkeleton()) {
  case Skeleton::Pointwise:
    return buildElementwise(code, frame, first, last);
  case Skeleton::Row:
    return buildRows(code, frame, first, last);
  case Skeleton::Column:
    return buildColumns(code, frame, first, last);
  case Skeleton::Flat:
    return buildFlat(code, frame, first, last);
  case Skeleton::Contraction:
    return buildContraction(code, frame, first, last);
  }
}

static void buildFunction(KernelOp kernel, const CpuVariant &variant, ArrayRef<std::string> symbols,
                          ModuleOp destination, StringRef name,
                          function_ref<void(Code &, Frame &, Value, Value)> fill) {
  OpBuilder builder = OpBuilder::atBlockEnd(destination.getBody());
  Location loc = builder.getUnknownLoc();
  Type pointer = Code(builder, loc).pointer(), i64 = builder.getI64Type();
  auto function = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType({pointer, pointer, i64, i64}, {}));
  function->setAttr("halftone.variant", builder.getStringAttr(variant.name));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(entry->getTerminator());
  Code code(builder, loc);
  Frame frame{kernel, variant, symbols, entry->getArgument(1), {}};
  size_t arguments = kernel.getInputs().size() + kernel->getNumResults() + kernel.hasFinish();
  for (size_t i = 0; i < arguments; ++i)
    frame.pointers.push_back(
        code.load(pointer, code.address(entry->getArgument(0), pointer,
                                        code.integer(static_cast<int64_t>(i)))));
  fill(code, frame, entry->getArgument(2), entry->getArgument(3));
}

/// Tasks must cover whole vectors: two tasks never write one element.
static LogicalResult checkTile(KernelOp kernel) {
  ArrayRef<int64_t> tile = *kernel.getCpuTile();
  int64_t wanted = kernel.isContraction() ? 2 : 1;
  if (static_cast<int64_t>(tile.size()) != wanted ||
      llvm::any_of(tile, [](int64_t extent) { return extent <= 0; }))
    return kernel.emitOpError() << "wants a cpu_tile of " << wanted << " positive extents";
  bool columns = kernel.isContraction() || kernel.getSkeleton() == Skeleton::Column;
  if (columns && tile.back() % kColumnStep != 0)
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
  if (kernel.getSkeleton() == Skeleton::Flat && !isFlat(kernel))
    return kernel.emitOpError("sums elements of rows and columns; only full and scalar accesses "
                              "can be summed flat: make it a "
                              "row kernel, or two kernels");
  if (failed(checkTile(kernel)) || failed(verifyCasts(kernel)) || failed(checkSums(kernel)))
    return failure();
  buildFunction(kernel, variant, symbols, destination, entryName(kernel, variant), buildTasks);
  if (kernel.hasFinish())
    buildFunction(kernel, variant, symbols, destination, finishName(kernel, variant),
                  [](Code &code, Frame &frame, Value, Value) { buildFinish(code, frame); });
  return success();
}

} // namespace halftone::cpu

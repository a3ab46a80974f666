// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Pointwise.h"

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr int64_t kElementsPerTask = 16384; // about ten microseconds of a short body
constexpr int64_t kPerThread = 4;

/// The largest number that is known to divide an extent.
static int64_t factorOf(Attribute dim) {
  if (auto extent = dyn_cast<IntegerAttr>(dim))
    return extent.getInt();
  return symbolicExtentOf(cast<StringAttr>(dim).getValue()).knownDivisor();
}

/// Whether it does nothing but turn a matrix of 8-bit codes, whose rows and results' rows begin
/// where whole words and chunks do.
static bool turnsCodes(KernelOp kernel) {
  constexpr int64_t kWord = 4, kChunk = 16;
  ArrayRef<Attribute> domain = kernel.getDomain().getValue();
  Block &body = kernel.getBody().front();
  if (kernel.getInputs().size() != 1 || kernel.getStored().size() != 1 || kernel.hasFinish() ||
      domain.size() != 2 || &body.front() != body.getTerminator() ||
      kernel.getYield().getStores()[0] != kernel.getElement(0))
    return false;
  auto read = cast<ir::TensorType>(kernel.getInputs()[0].getType());
  AccessAttr access = kernel.getInputAccess(0);
  return access.getKind() == AccessKind::General && !access.getWhere() && read.getRank() == 2 &&
         access.getMap().getValue() ==
             AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, kernel.getContext()) &&
         kernel.getResultAccess(0).getKind() == AccessKind::Full &&
         bitsOf(read.getElementType()) == 8 && read.getDims()[1] == domain[0] &&
         isa<IntegerAttr>(domain[0]) && factorOf(domain[0]) % kWord == 0 &&
         factorOf(domain[1]) % kChunk == 0;
}

Pointwise::Pointwise()
    : Skeleton({.word = ir::Skeleton::Pointwise,
                .elementwise = true,
                .takesElements = true,
                .readsByAnyMap = true,
                .replacesOperands = true,
                .stores = {AccessKind::Full, AccessKind::Window}}) {}

bool Pointwise::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return hasSameDomain(op, group) && accessesAgree(op, group) &&
         group.skeleton->traits().takesElements;
}

Tile Pointwise::getDefaultCpuTile(KernelOp kernel) const {
  return {isOneRow(kernel) ? kElementsPerTask : getRowsPerTask(kernel, kElementsPerTask)};
}

SmallVector<Axis> Pointwise::getTaskAxes(KernelOp kernel) const {
  ArrayRef<Attribute> domain = kernel.getDomain().getValue();
  return {{Dims(isOneRow(kernel) ? domain : domain.drop_back()), (*kernel.getCpuTile())[0]}};
}

void Pointwise::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  int64_t tile = (*frame.kernel.getCpuTile())[0];
  Body body(code, frame);
  body.enterKernel();
  Value begin = code.multiply(first, code.integer(tile)),
        end = code.multiply(last, code.integer(tile));
  bool oneRow = isOneRow(frame.kernel);
  if (std::optional<int64_t> stride = oneRow ? tile : frame.kernel.getColumns())
    body.beginStreams(*stride);
  if (oneRow) {
    body.enterRow({});
    body.storeColumns(begin, code.minimum(end, frame.elements(code)));
  } else {
    code.loop(begin, code.minimum(end, frame.rows(code)), 1, [&](Value row) {
      body.enterRow(row);
      body.storeColumns(code.integer(0), frame.columns(code));
    });
  }
  body.endStreams();
}

Tile Pointwise::getDefaultCudaTile(KernelOp) const { return {256}; }

/// Every row in whole groups of four; where its length is a symbol, threads take further groups.
FailureOr<Launch> Pointwise::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || !isWarps(tile[0]))
    return refuseTile(kernel);
  if (turnsCodes(kernel)) {
    if (tile[0] != kTurnedThreads)
      return refuseTile(kernel);
    ArrayRef<Attribute> domain = kernel.getDomain().getValue();
    Launch launch;
    launch.threads = kTurnedThreads;
    launch.axes = {{{domain[0]}, kTurnedTile}, {{domain[1]}, kTurnedTile}};
    return launch;
  }
  Dims extent(kernel.getDomain().getValue());
  if (std::optional<int64_t> columns = kernel.getColumns(); columns && !isOneRow(kernel))
    extent.back() = Builder(kernel).getI64IntegerAttr(
        static_cast<int64_t>(llvm::alignTo(*columns, kPerThread)));
  Launch launch;
  launch.threads = tile[0];
  launch.axes = {{extent, kPerThread * tile[0]}};
  return launch;
}

StringRef Pointwise::getDeviceName(KernelOp kernel, CudaPlanAttr) const {
  if (turnsCodes(kernel))
    return "transposed_codes";
  return kernel.getColumns() || isOneRow(kernel) ? name() : "dynamic_pointwise";
}

BodyForm Pointwise::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  BodyForm form;
  form.oneRow = isOneRow(kernel);
  form.constants = bodyConstant("kCollapsed", form.oneRow);
  if (turnsCodes(kernel))
    form.members = [](BodyPrinter &printer) {
      auto read = cast<ir::TensorType>(printer.kernel.getInputs()[0].getType());
      printer.out << "  " << kDevice << " long long lines() const { return "
                  << cudaProduct(read.getDims().take_front()) << "; }\n";
      return success();
    };
  return form;
}

} // namespace halftone::skeletons

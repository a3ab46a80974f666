// SPDX-License-Identifier: Apache-2.0
// Tile plans of CUDA kernels, and the launches that follow from them.
#include "codegen/emit/cuda/KernelText.h"

#include "codegen/emit/cuda/BodyText.h"

using namespace mlir;

namespace halftone::ir {

static constexpr int64_t kTeam = 8, kChunk = 1024, kWarp = 32; // as in reduce.cuh
static constexpr int64_t kStaticShared = 48 << 10;             // bytes

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static SmallVector<int64_t> defaultTile(KernelOp kernel) {
  int64_t columns = kernel.getColumns();
  switch (kernel.getSkeleton()) {
  case Skeleton::Pointwise:
    return {256};
  case Skeleton::Flat:
    return {128};
  case Skeleton::Row: // a long row: one team per chunk, in whole warps
    return {columns <= kChunk
                ? 128
                : std::min<int64_t>(256, ceilDiv(ceilDiv(columns, kChunk) * kTeam, kWarp) * kWarp)};
  case Skeleton::Column:
    return {32, 16};
  case Skeleton::Contraction:
    break;
  }
  int64_t rows = getStaticProduct(kernel.getDomainType().getRowDims()).value_or(INT64_MAX);
  if (columns <= 16)
    return {64, 16, 16, 4, 4};
  if (columns <= 128 || rows <= 128) // small: rather more blocks than more reuse
    return {32, 32, 16, 2, 4};
  if (columns < 512 || rows < 512)
    return {64, 64, 16, 4, 4};
  return {128, 128, 8, 8, 8};
}

CudaPlanAttr defaultCudaPlan(KernelOp kernel) {
  std::optional<ArrayRef<int64_t>> byHand = kernel.getCudaTile();
  SmallVector<int64_t> tile = byHand ? SmallVector<int64_t>(*byHand) : defaultTile(kernel);
  return CudaPlanAttr::get(kernel.getContext(), CudaPlanKind::Simt, tile, 1, 1,
                           DenseF64ArrayAttr::get(kernel.getContext(), {0, 0, 0, 0}));
}

bool elementsUseLhsSum(KernelOp kernel) {
  llvm::SmallPtrSet<Operation *, 8> users; // the body is one block, so its order is that of use
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (isa<LhsSumOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return users.contains(operand.getDefiningOp());
        }))
      users.insert(&op);
  for (auto [i, value] : llvm::enumerate(kernel.getYield().getStores()))
    if (kernel.getResultAccess(i).getKind() == AccessKind::Full &&
        users.contains(value.getDefiningOp()))
      return true;
  return false;
}

int64_t tensorElementBytes(KernelOp kernel) {
  Type formats[2];
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (!kernel.getElement(i)) // lhs and rhs alone do not enter the body
      formats[kernel.getInputAccess(i).getKind() == AccessKind::Rhs] =
          cast<TensorType>(input.getType()).getElementType();
  return formats[0].isTF32() || formats[0] != formats[1] ? 4 : 2;
}

int64_t tensorSharedBytes(ArrayRef<int64_t> tile, int64_t elementBytes) {
  int64_t stages = tile[5] * (tile[0] + tile[1]) * tile[2] * elementBytes;
  return std::max(stages, 64 * tile[1] * tile[0] / tile[3] + 4 * tile[0]);
}

static LogicalResult verifyTensorTile(KernelOp kernel, CudaPlanAttr plan) {
  ArrayRef<int64_t> tile = plan.getTile();
  auto isPower = [](int64_t value) { return value > 0 && llvm::isPowerOf2_64(value); };
  bool fits = kernel.isContraction() && tile.size() == 8 && plan.getLeast() > 0 &&
              plan.getSplits() > 0 && llvm::all_of(ArrayRef(tile).take_front(5), isPower) &&
              llvm::all_of(ArrayRef(tile).take_back(2), isPower);
  if (fits) {
    int64_t threads = kWarp * (tile[0] / tile[3]) * (tile[1] / tile[4]);
    fits = tile[3] >= 16 && tile[4] >= 16 && tile[3] <= tile[0] && tile[4] <= tile[1] &&
           threads <= 1024 && tile[0] <= threads && tile[2] <= 128 && tile[5] >= 2 &&
           tile[6] <= 16 && tile[7] <= 16;
  }
  if (!fits)
    return kernel.emitOpError("has a tensor plan that tensor_contraction cannot run; leave it to "
                              "halftone-plan-tiles");
  if (plan.getSplits() > 1 && elementsUseLhsSum(kernel))
    return kernel.emitOpError("has elements that need the sum of lhs, so its depth is not split");
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    Type element = cast<TensorType>(input.getType()).getElementType();
    if (!kernel.getElement(i) && (element.isF32() || element.isInteger()))
      return kernel.emitOpError() << "operand " << i << " holds " << element
                                  << ", which tensor cores do not take";
  }
  return success();
}

static LogicalResult verifyTile(KernelOp kernel, ArrayRef<int64_t> tile) {
  auto isWarps = [](int64_t threads) {
    return threads > 0 && threads % kWarp == 0 && threads <= 1024;
  };
  bool fits = llvm::all_of(tile, [](int64_t value) { return value > 0; });
  if (kernel.isContraction())
    fits = fits && tile.size() == 5 && tile[0] % 4 == 0 && tile[2] % 4 == 0 && tile[4] % 4 == 0 &&
           128 % tile[2] == 0 && tile[0] % tile[3] == 0 && tile[1] % tile[4] == 0 &&
           (tile[3] < 4 || tile[3] % 4 == 0) && isWarps(tile[0] / tile[3] * (tile[1] / tile[4])) &&
           tile[0] <= tile[0] / tile[3] * (tile[1] / tile[4]);
  else if (kernel.getSkeleton() == Skeleton::Column)
    fits = fits && tile.size() == 2 && isWarps(tile[0] * tile[1]);
  else
    fits = fits && tile.size() == 1 && isWarps(tile[0]);
  if (fits)
    return success();
  return kernel.emitOpError(
      "cuda_tile fits no launch of its skeleton; leave it to halftone-plan-tiles");
}

/// Counters, partial sums, and sums of lhs by chunks, as tensor_contraction.cuh lays them out.
static void addTensorWorkspace(KernelOp kernel, ArrayRef<int64_t> tile, CudaLaunch &launch) {
  launch.workspace.push_back({4, launch.axes, false, true});
  launch.workspace.push_back({4 * tile[0] * tile[1], launch.axes, true, false});
  if (kernel.getBody().front().getOps<LhsSumOp>().empty())
    return;
  SmallVector<Attribute> depth(kernel.getReduction().getValue());
  launch.workspace.push_back({4 * tile[0], {{depth, 128}, launch.axes.front()}, false, false});
}

static FailureOr<CudaLaunch> tensorLaunch(KernelOp kernel, CudaPlanAttr plan) {
  if (failed(verifyTensorTile(kernel, plan)))
    return failure();
  ArrayRef<int64_t> tile = plan.getTile();
  CudaLaunch launch;
  launch.threads = kWarp * (tile[0] / tile[3]) * (tile[1] / tile[4]);
  launch.axes = {{SmallVector<Attribute>(kernel.getDomainType().getRowDims()), tile[0]},
                 {{Builder(kernel).getI64IntegerAttr(kernel.getColumns())}, tile[1]}};
  int64_t shared = tensorSharedBytes(tile, tensorElementBytes(kernel));
  launch.sharedBytes = shared > kStaticShared ? shared : 0;
  if (plan.getSplits() > 1)
    addTensorWorkspace(kernel, tile, launch);
  return launch;
}

FailureOr<CudaLaunch> cudaLaunch(KernelOp kernel, CudaPlanAttr plan) {
  if (plan.getKind() == CudaPlanKind::Tensor)
    return tensorLaunch(kernel, plan);
  ArrayRef<int64_t> tile = plan.getTile();
  if (failed(verifyTile(kernel, tile)))
    return failure();
  ArrayRef<Attribute> dims = kernel.getDomain().getValue(),
                      rows = kernel.getDomainType().getRowDims();
  int64_t columns = kernel.getColumns();
  Builder builder(kernel);
  SmallVector<Attribute> columnDims = {builder.getI64IntegerAttr(columns)};
  CudaLaunch launch;
  launch.threads = tile.front();
  switch (kernel.getSkeleton()) {
  case Skeleton::Pointwise: { // every row in whole groups of four
    SmallVector<Attribute> padded(rows);
    padded.push_back(
        builder.getI64IntegerAttr(isCollapsed(kernel) ? columns : ceilDiv(columns, 4) * 4));
    launch.axes = {{padded, 4 * launch.threads}};
    break;
  }
  case Skeleton::Flat:
    launch.axes = {{SmallVector<Attribute>(dims), kChunk * launch.threads / kTeam}};
    break;
  case Skeleton::Row:
    launch.axes = {{SmallVector<Attribute>(rows), columns <= kChunk ? launch.threads / kTeam : 1}};
    break;
  case Skeleton::Column:
    launch.threads = tile[0] * tile[1];
    launch.axes = {{columnDims, tile[0]}};
    break;
  case Skeleton::Contraction:
    launch.threads = tile[0] / tile[3] * (tile[1] / tile[4]);
    launch.axes = {{SmallVector<Attribute>(rows), tile[0]}, {columnDims, tile[1]}};
    break;
  }
  return launch;
}

} // namespace halftone::ir

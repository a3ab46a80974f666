// SPDX-License-Identifier: Apache-2.0
// Tile plans of CUDA kernels, and the launches that follow from them.
#include "codegen/emit/cuda/KernelText.h"

#include "codegen/emit/cuda/BodyText.h"

using namespace mlir;

namespace halftone::ir {

static constexpr int64_t kTeam = 8, kChunk = 1024, kWarp = 32; // as in reduce.cuh

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

SmallVector<int64_t> defaultCudaTile(KernelOp kernel) {
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

FailureOr<CudaLaunch> cudaLaunch(KernelOp kernel) {
  std::optional<ArrayRef<int64_t>> tile = kernel.getCudaTile();
  if (!tile)
    return kernel.emitOpError("has no cuda_tile; run halftone-plan-tiles before emission"),
           failure();
  if (failed(verifyTile(kernel, *tile)))
    return failure();
  ArrayRef<Attribute> dims = kernel.getDomain().getValue(),
                      rows = kernel.getDomainType().getRowDims();
  int64_t columns = kernel.getColumns();
  Builder builder(kernel);
  SmallVector<Attribute> columnDims = {builder.getI64IntegerAttr(columns)};
  CudaLaunch launch;
  launch.threads = tile->front();
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
    launch.threads = (*tile)[0] * (*tile)[1];
    launch.axes = {{columnDims, (*tile)[0]}};
    break;
  case Skeleton::Contraction:
    launch.threads = (*tile)[0] / (*tile)[3] * ((*tile)[1] / (*tile)[4]);
    launch.axes = {{SmallVector<Attribute>(rows), (*tile)[0]}, {columnDims, (*tile)[1]}};
    break;
  }
  return launch;
}

} // namespace halftone::ir

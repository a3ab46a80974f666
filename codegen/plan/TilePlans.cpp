// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/TilePlans.h"

#include <cmath>

#include "codegen/emit/cuda/KernelText.h"
#include "codegen/plan/CostModel.h"

using namespace mlir;

namespace halftone::ir {

std::optional<std::string> readAssumedSizes(ArrayRef<std::string> entries, AssumedSizes &sizes) {
  for (const std::string &entry : entries) {
    auto [symbol, number] = StringRef(entry).split('=');
    int64_t size = 0;
    if (!number.getAsInteger(10, size) && size > INT32_MAX)
      return "'" + entry + "' assumes a size above 2147483647: give the one that is used most";
    if (symbol.empty() || number.getAsInteger(10, size) || size <= 0)
      return "'" + entry + "' assumes no size: write NAME=NUMBER with a whole number above 0";
    if (!sizes.try_emplace(symbol, size).second)
      return "'" + entry + "' assumes a second size of " + symbol.str() + ": give it once";
  }
  return std::nullopt;
}

int64_t assumedSize(const AssumedSizes &assumed, StringRef symbol) {
  auto known = assumed.find(symbol);
  return known == assumed.end() ? kAssumedSize : known->second;
}

namespace {

/// Rows and columns of a block and of a warp, and the bytes of k at once. Each has a chain of
/// halvings down to the smallest, so that small and narrow problems fill a chip too.
struct TensorTile {
  int64_t rows, columns, depthBytes, warpRows, warpColumns;
};
constexpr TensorTile kTensorTiles[] = {
    {256, 128, 64, 64, 64}, {128, 256, 64, 64, 64}, {128, 128, 64, 64, 32}, {128, 64, 64, 32, 32},
    {64, 128, 64, 32, 32},  {64, 64, 128, 32, 32},  {128, 32, 128, 32, 16}, {32, 128, 128, 16, 32},
    {64, 32, 128, 32, 16},  {32, 64, 128, 16, 32},  {32, 32, 128, 16, 16},  {128, 16, 128, 32, 16},
    {64, 16, 128, 16, 16},  {16, 64, 128, 16, 16},
};
constexpr std::array<int64_t, 5> kSimtTiles[] = {
    {64, 16, 16, 4, 4}, {32, 32, 16, 2, 4}, {64, 64, 16, 4, 4}, {128, 128, 8, 8, 8}};
constexpr int64_t kSplits[] = {1, 2, 4, 8, 16, 32, 64};
constexpr int64_t kChunk = 128;         // splits are whole chunks of N3
constexpr int64_t kLeastPerSplit = 256; // products that are worth a block

class Planner {
public:
  Planner(KernelOp kernel, const Chip &chip, const AssumedSizes &assumed)
      : kernel(kernel), chip(chip), assumed(assumed) {
    problem.rows = extent(kernel.getDomainType().getRowDims());
    problem.columns = static_cast<double>(kernel.getColumns());
    for (Value tensor : kernel->getOperands())
      problem.bytes += bytesOf(tensor);
    for (Value tensor : kernel->getResults())
      problem.bytes += bytesOf(tensor);
    double scalars = 0;
    for (Operation &op : kernel.getBody().front().without_terminator())
      scalars += !isa<arith::ConstantOp>(op);
    problem.operations = scalars * problem.rows * problem.columns;
    if (!kernel.isContraction())
      return;
    problem.depth = extent(kernel.getReduction().getValue());
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      AccessKind kind = kernel.getInputAccess(i).getKind();
      if (kind == AccessKind::Lhs)
        lhs = cast<TensorType>(input.getType());
      if (kind == AccessKind::Rhs)
        rhs = cast<TensorType>(input.getType());
    }
    problem.elementBytes = (bytes(lhs.getElementType()) + bytes(rhs.getElementType())) / 2.0;
  }

  ChipPlansAttr plan() {
    std::string reason;
    if (!kernel.isContraction()) {
      addElements();
    } else {
      reason = whyNoTensorCores();
      if (reason.empty())
        for (const TensorTile &tile : kTensorTiles)
          addTensor(tile);
      if (plans.empty())
        addSimt();
    }
    if (plans.size() > kKeptPlans)
      plans.resize(kKeptPlans);
    return ChipPlansAttr::get(kernel.getContext(), chip.name, plans, reason);
  }

private:
  static constexpr size_t kMicroseconds = 3; // of a plan's cost

  static double bytes(Type element) { return element.isF16() || element.isBF16() ? 2 : 4; }

  double extent(ArrayRef<Attribute> dims) {
    double product = 1;
    for (Attribute dim : dims) {
      auto symbol = dyn_cast<StringAttr>(dim);
      product *= static_cast<double>(symbol ? assumedSize(assumed, symbol.getValue())
                                            : cast<IntegerAttr>(dim).getInt());
    }
    return product;
  }

  double bytesOf(Value tensor) {
    auto type = cast<TensorType>(tensor.getType());
    return extent(type.getDims()) * bytes(type.getElementType());
  }

  std::string whyNoTensorCores() {
    Type format = lhs.getElementType();
    auto name = [](Type type) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return text;
    };
    if (kernel.getAccumulation() == Accumulation::Ordered)
      return "accumulate ordered: tensor cores sum in an order of their own";
    if (format.isF32() || rhs.getElementType().isF32())
      return "f32 operands: tensor cores would round them to tf32, which compute tf32 allows";
    if (format != rhs.getElementType() && chip.number < 80)
      return "operands of " + name(format) + " and " + name(rhs.getElementType()) +
             ": tensor cores take two of one format below sm_80";
    if (!format.isF16() && chip.number < 80)
      return (chip.name + " has no tensor cores for " + name(format) + "; sm_80 is the first")
          .str();
    return "";
  }

  void addPlan(CudaPlanKind kind, ArrayRef<int64_t> tile, int64_t splits, int64_t least,
               const Estimate &e) {
    // Three significant digits are more than the model knows, and keep texts readable.
    auto rounded = [](double value) {
      double unit = value > 0 ? std::pow(10.0, std::floor(std::log10(value)) - 2) : 1;
      return unit >= 1 ? std::round(value / unit) * unit
                       : std::round(value * std::round(1 / unit)) / std::round(1 / unit);
    };
    auto cost = DenseF64ArrayAttr::get(
        kernel.getContext(), {e.operations, e.bytes, rounded(e.waves), rounded(e.microseconds)});
    auto plan = CudaPlanAttr::get(kernel.getContext(), kind, tile, splits, least, cost);
    auto *next = llvm::find_if(plans, [&](CudaPlanAttr other) {
      return other.getCost()[kMicroseconds] > cost[kMicroseconds];
    });
    plans.insert(next, plan);
  }

  void addElements() {
    CudaPlanAttr plan = defaultCudaPlan(kernel);
    FailureOr<CudaLaunch> launch = cudaLaunch(kernel, plan);
    if (failed(launch))
      return;
    double blocks = 1;
    for (const CudaLaunch::Axis &axis : launch->axes)
      blocks *= std::ceil(extent(axis.extent) / static_cast<double>(axis.tile));
    addPlan(CudaPlanKind::Simt, plan.getTile(), 1, 1,
            estimateElements(chip, problem, blocks, static_cast<double>(launch->threads)));
  }

  void addSimt() {
    auto add = [&](ArrayRef<int64_t> tile) {
      Tiling tiling;
      tiling.rows = static_cast<double>(tile[0]);
      tiling.columns = static_cast<double>(tile[1]);
      tiling.depth = static_cast<double>(tile[2]);
      double results = static_cast<double>(tile[3] * tile[4]);
      tiling.threads = tiling.rows * tiling.columns / results;
      tiling.registers = 40 + 2 * results;
      tiling.sharedBytes = (tiling.rows + tiling.columns) * tiling.depth * 4;
      // For each k a thread reads its rows and columns in vectors of four, which take a warp two
      // passes each, and then computes.
      double reads = static_cast<double>(tile[3] + tile[4]) / 4;
      tiling.sharedTraffic = tiling.threads / 32 * reads * 2 * 128;
      tiling.issueShare = results / (results + reads + 2);
      addPlan(CudaPlanKind::Simt, tile, 1, 1, estimateContraction(chip, problem, tiling));
    };
    if (kernel.getCudaTile())
      return add(*kernel.getCudaTile());
    for (const auto &tile : kSimtTiles)
      add(tile);
  }

  /// The largest of 2, 4, 8 and 16 that divides the bytes of a row.
  static int64_t alignment(TensorType matrix) {
    auto rowBytes = matrix.getColumns() * static_cast<int64_t>(bytes(matrix.getElementType()));
    return std::min<int64_t>(16, rowBytes & -rowBytes);
  }

  /// The tile with the best of its splits.
  void addTensor(const TensorTile &tile) {
    int64_t elementBytes = tensorElementBytes(kernel);
    int64_t stages = chip.number<80 ? 2 : chip.sharedPerSm>(100 << 10) ? 4 : 3;
    SmallVector<int64_t> numbers = {
        tile.rows,      tile.columns,     tile.depthBytes / elementBytes,
        tile.warpRows,  tile.warpColumns, stages,
        alignment(lhs), alignment(rhs)};
    Tiling tiling = tilingOf(numbers, elementBytes);
    if (residentBlocks(chip, tiling) == 0)
      return;
    Estimate best;
    int64_t bestSplits = 0, bestLeast = 1;
    auto depth = static_cast<int64_t>(problem.depth);
    for (int64_t splits : kSplits) {
      if (splits > 1 && (elementsUseLhsSum(kernel) || depth < splits * kLeastPerSplit))
        break;
      int64_t least = splits == 1 ? 1 : llvm::alignTo(llvm::divideCeil(depth, splits), kChunk);
      tiling.splits = splits == 1 ? 1 : static_cast<double>(llvm::divideCeil(depth, least));
      Estimate estimate = estimateContraction(chip, problem, tiling);
      if (bestSplits == 0 || estimate.microseconds < best.microseconds) {
        best = estimate;
        bestSplits = static_cast<int64_t>(tiling.splits);
        bestLeast = least;
      }
    }
    addPlan(CudaPlanKind::Tensor, numbers, bestSplits, bestLeast, best);
  }

  Tiling tilingOf(ArrayRef<int64_t> n, int64_t elementBytes) {
    Tiling tiling;
    tiling.tensor = true;
    tiling.tf32 = elementBytes == 4;
    tiling.rows = static_cast<double>(n[0]);
    tiling.columns = static_cast<double>(n[1]);
    tiling.depth = static_cast<double>(n[2]);
    auto warpRows = static_cast<double>(n[3]), warpColumns = static_cast<double>(n[4]);
    double warps = tiling.rows / warpRows * (tiling.columns / warpColumns);
    tiling.threads = 32 * warps;
    tiling.stages = static_cast<double>(n[5]);
    tiling.sharedBytes = static_cast<double>(tensorSharedBytes(n, elementBytes));
    // Sums, two sets of fragments, and what addresses and the epilogue take.
    tiling.registers = warpRows * warpColumns / 32 + 2 * (warpRows / 4 + warpColumns / 4) + 48;
    double element = static_cast<double>(elementBytes);
    tiling.sharedTraffic =
        (tiling.rows + tiling.columns) * element + warps * (warpRows + warpColumns) * element;
    return tiling;
  }

  KernelOp kernel;
  const Chip &chip;
  const AssumedSizes &assumed;
  Problem problem;
  TensorType lhs, rhs;
  SmallVector<CudaPlanAttr> plans;
};

} // namespace

ChipPlansAttr planKernel(KernelOp kernel, const Chip &chip, const AssumedSizes &assumed) {
  return Planner(kernel, chip, assumed).plan();
}

} // namespace halftone::ir

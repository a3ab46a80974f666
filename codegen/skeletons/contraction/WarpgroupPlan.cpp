// SPDX-License-Identifier: Apache-2.0
// On tensor cores by wgmma, from shared memory that tensor copies fill, or threads where rows are
// no multiple of 16 bytes: two f16 or two bf16 operands, where the chip has it (sm_90a) and the sum
// may take any order (P21); or two of 8-bit floats that lie along the sum, whose digits rules leave
// to the chip (N13, N14).
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "codegen/skeletons/contraction/PlanForm.h"
#include "codegen/skeletons/contraction/TensorCopies.h"

#include <limits>

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

namespace {

/// As warpgroup_contraction.cuh has them.
constexpr int64_t kStageDepth = 64, kGroupThreads = 384, kGroupRegisters = 168,
                  kThreadsOfGroup = 128;
constexpr int64_t kSlabBytes = 8 * 16 * 32 * 4, kBarrierBytes = 16, kFactorBytes = 4;
constexpr int64_t kMostWithParts = 192; // sums of a thread, and of 64 of its rows once more (N14)

/// A plan's numbers, in the order of the device's Tile.
struct WarpgroupTile {
  int64_t rows, columns, stages, alternates, groupRows;

  int64_t sharedBytes(bool hasFactors) const {
    int64_t factors = hasFactors ? (rows + columns) * kFactorBytes : 0;
    return stages * ((rows + columns) * kSwizzleBytes + kBarrierBytes + factors) + kSlabBytes;
  }
  /// Whether sums of parts fit beside those that they are added to.
  bool hasRoomForParts(int64_t most = kMostWithParts) const {
    int64_t groups = alternates ? 1 : 2, lines = rows < 128 ? rows : rows / groups;
    int64_t part = rows * columns / groups / lines / 2; // of 64 rows, a thread's
    return lines / 64 * part + part <= most;
  }
};

constexpr WarpgroupTile kWarpgroupTiles[] = {
    {128, 256, 4, 0, 16}, {256, 128, 4, 0, 8}, {128, 192, 5, 0, 16},
    {128, 128, 6, 1, 16}, {64, 256, 5, 1, 16},
};

std::optional<WarpgroupTile> warpgroupTileOf(CudaPlanAttr plan) {
  ArrayRef<int64_t> n = plan.getTile();
  if (n.size() != 5)
    return std::nullopt;
  WarpgroupTile tile{n[0], n[1], n[2], n[3], n[4]};
  const auto *known = llvm::find_if(kWarpgroupTiles, [&](const WarpgroupTile &other) {
    return other.rows == tile.rows && other.columns == tile.columns;
  });
  bool fits = known != std::end(kWarpgroupTiles) && tile.stages >= 2 && (n[3] == 0 || n[3] == 1) &&
              tile.groupRows > 0;
  return fits ? std::optional(tile) : std::nullopt;
}

Type elementTypeOf(KernelOp kernel, const StoredMatrix &matrix) {
  return elementType(kernel.getInputs()[matrix.input]);
}

std::string whyNoWarpgroups(KernelOp kernel) {
  std::array<StoredMatrix, 2> matrices = {lhsMatrix(kernel), rhsMatrix(kernel)};
  Type lhs = elementTypeOf(kernel, matrices[0]), rhs = elementTypeOf(kernel, matrices[1]);
  auto name = [](Type type) { return std::string(encoding::word(elementOf(type))); };
  bool isHalf = elementOf(lhs) == Element::f16 || elementOf(lhs) == Element::bf16;
  if (multipliesBlocks(kernel) && !multipliesByFactors(kernel))
    return "codes in blocks: wgmma multiplies by no scales of theirs";
  if (multipliesFloat8(kernel)) {
    if (!matrices[0].alongDepth || !matrices[1].alongDepth)
      return "8-bit operands that lie across the sum: wgmma takes those that lie along it";
    if (std::string why = whyNotFetched(kernel); !why.empty())
      return why;
  } else if (lhs != rhs || !isHalf)
    return "operands of " + name(lhs) + (lhs == rhs ? "" : " and " + name(rhs)) +
           ": wgmma is given two f16 or two bf16";
  if (std::string why = whyNoCopies(kernel); !why.empty())
    return why;
  if (elementsUseLhsSum(kernel))
    return "elements that use the sum of lhs: it is known when they are done";
  if (usesLhsSum(kernel) && !kernel.getTransposeLhs())
    return "the sum of a lhs that lies along k";
  return "";
}

/// Bytes through shared memory that stand for one element that threads copy: on an H200 they took
/// as long.
constexpr double kThreadBytes = 30;

/// Of operands of so many bytes that tensor copies fetch.
Tiling tilingOf(const WarpgroupTile &tile, int64_t bytes, bool promotes, bool hasFactors = false) {
  Tiling tiling;
  tiling.tensor = tiling.warpgroup = true;
  tiling.float8 = bytes == 1;
  tiling.promotes = promotes;
  tiling.factors = hasFactors;
  tiling.rows = static_cast<double>(tile.rows);
  tiling.columns = static_cast<double>(tile.columns);
  tiling.depth = static_cast<double>(elementsOfLine(bytes));
  tiling.stages = static_cast<double>(tile.stages);
  tiling.threads = kGroupThreads;
  tiling.registers = kGroupRegisters;
  tiling.sharedBytes = static_cast<double>(tile.sharedBytes(hasFactors));
  tiling.alternates = tile.alternates != 0;
  // Copies write both operands once; every 64 rows of sums read theirs and all columns.
  bool halvesColumns = !tile.alternates && tile.rows < 128;
  double blocks = tiling.rows / 64 * (halvesColumns ? 2 : 1);
  double columns = tiling.columns / (halvesColumns ? 2 : 1);
  tiling.sharedTraffic =
      static_cast<double>(bytes) * (tiling.rows + tiling.columns + blocks * (64 + columns));
  return tiling;
}

Tiling warpgroupTilingOf(KernelOp kernel, const WarpgroupTile &tile) {
  Tiling tiling = tilingOf(tile, bytesOf(kernel), multipliesFloat8(kernel) && promotes(kernel),
                           multipliesByFactors(kernel));
  if (!hasMap(kernel, lhsMatrix(kernel)))
    tiling.sharedTraffic += kThreadBytes * tiling.rows;
  if (!hasMap(kernel, rhsMatrix(kernel)))
    tiling.sharedTraffic += kThreadBytes * tiling.columns;
  return tiling;
}

/// Of promoted sums where ptxas spills beside larger tiles: elements with more than one operand or
/// result.
constexpr WarpgroupTile kTileOfParts = {128, 128, 6, 0, 16};

/// Whether each column has a factor of its own, so that a lane reads two for every four sums.
bool hasFactorsOfColumns(KernelOp kernel) {
  if (!multipliesByFactors(kernel))
    return false;
  AffineMap reads = kernel.getInputAccess(*findMatrices(kernel).rhsScales).getMap().getValue();
  auto column = static_cast<unsigned>(kernel.getDomain().size()) - 1;
  return llvm::is_contained(reads.getResults(), getAffineDimExpr(column, kernel->getContext()));
}

bool isTakenFor(KernelOp kernel, const WarpgroupTile &tile) {
  if (!multipliesFloat8(kernel) || !promotes(kernel))
    return true;
  // ptxas spills where they are added in larger tiles: whole sums in 256 x 128, but for some
  // numbers of rows, and splits in 128 x 192.
  if (hasFactorsOfColumns(kernel) && tile.rows * tile.columns > 128 * 128)
    return false;
  constexpr int64_t kMostVectors = 1, kMostBesideMore = 128;
  return tile.hasRoomForParts(countVectors(kernel) <= kMostVectors ? kMostWithParts
                                                                   : kMostBesideMore);
}

/// Of codes ptxas spills where sums of splits are added and elements read operands behind them.
bool maySplit(KernelOp kernel) {
  return !multipliesFloat8(kernel) ||
         llvm::none_of(llvm::seq<unsigned>(0, kernel.getInputs().size()),
                       [&](unsigned input) { return isVarying(kernel, input); });
}

class WarpgroupForm final : public PlanForm {
public:
  StringRef getDeviceName() const override { return "warpgroup_contraction"; }

  std::string whyNot(const PlanList &plans) const override { return whyNoWarpgroups(plans.kernel); }

  void addPlans(PlanList &plans) const override {
    SmallVector<WarpgroupTile> tiles(std::begin(kWarpgroupTiles), std::end(kWarpgroupTiles));
    if (multipliesFloat8(plans.kernel) && promotes(plans.kernel))
      tiles.push_back(kTileOfParts);
    for (const WarpgroupTile &tile : tiles)
      if (isTakenFor(plans.kernel, tile))
        addWithSplits(plans, CudaPlanKind::Warpgroup,
                      {tile.rows, tile.columns, tile.stages, tile.alternates, tile.groupRows},
                      warpgroupTilingOf(plans.kernel, tile),
                      ArrayRef(kGroupSplits).take_front(maySplit(plans.kernel) ? 10 : 1));
  }

  FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override {
    std::optional<WarpgroupTile> tile = warpgroupTileOf(plan);
    if (!tile || plan.getLeast() < 1 || plan.getSplits() < 1)
      return kernel.emitOpError("has a warpgroup plan that warpgroup_contraction cannot run; leave "
                                "it to halftone-plan-tiles");
    if (std::string why = whyNoWarpgroups(kernel); !why.empty())
      return kernel.emitOpError("has a warpgroup plan, but ") << why;
    if (!isTakenFor(kernel, *tile))
      return kernel.emitOpError("has a warpgroup plan whose sums leave no room for those of parts; "
                                "leave it to halftone-plan-tiles");
    Launch launch;
    launch.threads = kGroupThreads;
    launch.resident = 1;
    launch.axes = getTileAxes(kernel, tile->rows, tile->columns);
    launch.sharedBytes = tile->sharedBytes(multipliesByFactors(kernel));
    if (plan.getSplits() > 1)
      addGroupWorkspace(kernel, tile->rows, tile->columns, tile->alternates ? 1 : 2, launch);
    if (StoredMatrix lhs = lhsMatrix(kernel); hasMap(kernel, lhs))
      launch.maps.push_back(tensorMapOf(kernel, lhs, tile->rows));
    if (StoredMatrix rhs = rhsMatrix(kernel); hasMap(kernel, rhs))
      launch.maps.push_back(tensorMapOf(kernel, rhs, tile->columns));
    return launch;
  }

  std::string describe(CudaPlanAttr plan) const override {
    WarpgroupTile tile = *warpgroupTileOf(plan);
    return ("tensor " + extentsText({tile.rows, tile.columns, kStageDepth}) + ", warp groups" +
            (tile.alternates ? " in turns" : "") + ", " + Twine(tile.stages) + " stages")
        .str();
  }

  std::string getTileArguments(CudaPlanAttr plan) const override {
    WarpgroupTile tile = *warpgroupTileOf(plan);
    return (Twine(tile.rows) + ", " + Twine(tile.columns) + ", " + Twine(tile.stages) + ", " +
            (tile.alternates ? "true" : "false") + ", " + Twine(tile.groupRows) +
            (plan.getSplits() > 1 ? ", true" : ""))
        .str();
  }

  /// Those of the group that keeps stages filled.
  int64_t getOtherThreads() const override { return kThreadsOfGroup; }

  std::string getRunArguments(KernelOp kernel, CudaPlanAttr plan) const override {
    std::string maps;
    int number = 0;
    for (const StoredMatrix &matrix : {lhsMatrix(kernel), rhsMatrix(kernel)})
      maps += ", " + (hasMap(kernel, matrix) ? "map" + std::to_string(number++)
                                             : "halftone::kernels::warpgroup_contraction::NoMap()");
    return maps + splitArguments(plan);
  }

  void addTo(BodyForm &form, KernelOp kernel, CudaPlanAttr plan) const override {
    addGroupElements(form, kernel, plan);
  }
};

} // namespace

double microsecondsByGroups(const Chip &chip, const Problem &problem, int64_t bytes,
                            bool promotes) {
  // Not kTileOfParts, which is for elements with more operands than a product alone has: it would
  // take 5 % off, at most.
  double best = std::numeric_limits<double>::infinity();
  for (const WarpgroupTile &tile : kWarpgroupTiles)
    if (!promotes || tile.hasRoomForParts()) {
      Splits splits = findSplits(chip, problem, tilingOf(tile, bytes, promotes), kGroupSplits);
      best = std::min(best, splits.estimate.microseconds);
    }
  return best;
}

const PlanForm &warpgroupForm() {
  static const WarpgroupForm form;
  return form;
}

} // namespace halftone::skeletons

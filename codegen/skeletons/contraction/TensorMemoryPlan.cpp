// SPDX-License-Identifier: Apache-2.0
// On tensor cores that keep sums in tensor memory (tcgen05, sm_100a, sm_103a and sm_110a): two
// operands of 8-bit floats, either way along memory, as numbers (N13, N14) or in blocks whose
// scales are powers of two, where rules leave their digits to the chip (decisions/0075).
#include "codegen/ir/GatheredLines.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "codegen/skeletons/contraction/TensorCopies.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

namespace {

/// As tensor_memory_contraction.cuh has them.
constexpr int64_t kRows = 128, kDepth = 128, kThreads = 384, kOthers = 128, kRegisters = 168,
                  kGroups = 2;
constexpr int64_t kMemorySlabBytes = 8 * 16 * 32 * 4, kMemoryBarrierBytes = 16, kLastBytes = 48,
                  kMemoryScaleBytes = 4;

/// A plan's numbers, in the order of the device's Tile.
struct MemoryTile {
  int64_t columns, stages, scales, groupRows;

  /// Whether sums are added up while others are taken out.
  bool hasTwoBuffers() const { return scales == 0 || columns == 128; }
  int64_t sharedBytes() const {
    int64_t line = kDepth + (scales ? kMemoryScaleBytes : 0);
    return stages * ((kRows + columns) * line + kMemoryBarrierBytes) + kLastBytes +
           kMemorySlabBytes;
  }
};

constexpr int64_t kGroupRows = 16;
constexpr MemoryTile kNarrow = {128, 6, 0, kGroupRows}, kWide = {256, 4, 0, kGroupRows},
                     kOfBlocks = {128, 6, 1, kGroupRows};

std::optional<MemoryTile> memoryTileOf(CudaPlanAttr plan) {
  ArrayRef<int64_t> n = plan.getTile();
  if (n.size() != 4)
    return std::nullopt;
  MemoryTile tile{n[0], n[1], n[2], n[3]};
  bool fits = (tile.columns == 128 || tile.columns == 256) && tile.stages >= 2 &&
              (tile.scales == 0 || tile.scales == 1) && tile.groupRows > 0;
  return fits ? std::optional(tile) : std::nullopt;
}

std::string whyNoTensorMemory(KernelOp kernel) {
  if (multipliesByFactors(kernel))
    return "blocks with scales of f32: tcgen05 multiplies by powers of two";
  if (findGatheredInput(kernel))
    return "a matrix that is gathered: tensor copies fetch what lies in memory";
  if (!kernel.getBatchDims().empty())
    return "a batch: tensor copies would read past the end of an element";
  if (!hasMap(kernel, lhsMatrix(kernel)) || !hasMap(kernel, rhsMatrix(kernel)))
    return "rows of codes that begin at no multiples of 16 bytes: tensor copies fetch no others";
  if (usesLhsSum(kernel))
    return "the sum of lhs, whose codes no thread sees";
  return "";
}

/// Boxes of one line of the swizzle, along memory.
Launch::Map tensorMapOf(const StoredMatrix &matrix, int64_t lines) {
  return {matrix.input,
          {{matrix.rows, matrix.alongDepth ? lines : kDepth}, {matrix.columns, kDepth}}};
}

Tiling tilingOf(KernelOp kernel, const MemoryTile &tile) {
  Tiling tiling;
  tiling.tensor = tiling.tensorMemory = tiling.float8 = true;
  tiling.promotes = promotes(kernel);
  tiling.rows = kRows;
  tiling.columns = static_cast<double>(tile.columns);
  tiling.depth = kDepth;
  tiling.stages = static_cast<double>(tile.stages);
  tiling.threads = kThreads;
  tiling.registers = kRegisters;
  tiling.sharedBytes = static_cast<double>(tile.sharedBytes());
  tiling.alternates = tile.hasTwoBuffers();
  tiling.sharedTraffic = 2 * (tiling.rows + tiling.columns); // written once, read once
  return tiling;
}

/// ptxas spills wide tiles of promoted sums, and those of elements with several operands; of blocks
/// they have one set of sums.
bool isTakenFor(KernelOp kernel, const MemoryTile &tile) {
  constexpr int64_t kMostBesideWide = 1;
  bool mayBeWide = tile.scales == 0 && !promotes(kernel) && countVectors(kernel) <= kMostBesideWide;
  return (tile.scales != 0) == multipliesBlocks(kernel) &&
         (tile.columns == kNarrow.columns || mayBeWide);
}

class TensorMemoryForm final : public PlanForm {
public:
  StringRef getDeviceName() const override { return "tensor_memory_contraction"; }

  std::string whyNot(const PlanList &plans) const override {
    return whyNoTensorMemory(plans.kernel);
  }

  void addPlans(PlanList &plans) const override {
    for (const MemoryTile &tile : {kNarrow, kWide, kOfBlocks})
      if (isTakenFor(plans.kernel, tile))
        addWithSplits(plans, CudaPlanKind::TensorMemory,
                      {tile.columns, tile.stages, tile.scales, tile.groupRows},
                      tilingOf(plans.kernel, tile), kGroupSplits);
  }

  FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override {
    std::optional<MemoryTile> tile = memoryTileOf(plan);
    if (!tile || plan.getLeast() < 1 || plan.getSplits() < 1 || !multipliesFloat8(kernel) ||
        !isTakenFor(kernel, *tile))
      return kernel.emitOpError("has a plan that tensor_memory_contraction cannot run; leave it to "
                                "halftone-plan-tiles");
    if (std::string why = whyNoTensorMemory(kernel); !why.empty())
      return kernel.emitOpError("has a plan with tensor memory, but ") << why;
    Launch launch;
    launch.threads = kThreads;
    launch.resident = 1;
    launch.axes = getTileAxes(kernel, kRows, tile->columns);
    launch.sharedBytes = tile->sharedBytes();
    if (plan.getSplits() > 1)
      addGroupWorkspace(kernel, kRows, tile->columns, kGroups, launch);
    launch.maps = {tensorMapOf(lhsMatrix(kernel), kRows),
                   tensorMapOf(rhsMatrix(kernel), tile->columns)};
    return launch;
  }

  std::string describe(CudaPlanAttr plan) const override {
    MemoryTile tile = *memoryTileOf(plan);
    return ("tensor " + extentsText({kRows, tile.columns, kDepth}) + ", tensor memory, " +
            Twine(tile.stages) + " stages")
        .str();
  }

  std::string getTileArguments(CudaPlanAttr plan) const override {
    MemoryTile tile = *memoryTileOf(plan);
    return (Twine(tile.columns) + ", " + Twine(tile.stages) + ", " +
            (tile.scales ? "true" : "false") + ", " + Twine(tile.groupRows) +
            (plan.getSplits() > 1 ? ", true" : ""))
        .str();
  }

  /// Those that ask for copies and products, and fetch scales.
  int64_t getOtherThreads() const override { return kOthers; }

  std::string getRunArguments(KernelOp, CudaPlanAttr plan) const override {
    return ", map0, map1" + splitArguments(plan);
  }

  void addTo(BodyForm &form, KernelOp kernel, CudaPlanAttr plan) const override {
    addGroupElements(form, kernel, plan);
  }
};

} // namespace

const PlanForm &tensorMemoryForm() {
  static const TensorMemoryForm form;
  return form;
}

} // namespace halftone::skeletons

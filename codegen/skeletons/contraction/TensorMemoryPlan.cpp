// SPDX-License-Identifier: Apache-2.0
// On tensor cores that keep sums in tensor memory (tcgen05, sm_100a, sm_103a and sm_110a): two
// operands of 8-bit floats, either way along memory, as numbers (N13, N14) or in blocks whose
// scales are powers of two, or of f32 by which sums of parts are multiplied (N17), or of packed
// 4-bit ones in blocks, where rules leave their digits to the chip (decisions/0075).
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "codegen/skeletons/contraction/TensorCopies.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

namespace {

/// As tensor_memory_stages.cuh has them.
constexpr int64_t kRows = 128, kDepth = 128, kThreads = 384, kOthers = 128, kRegisters = 168,
                  kGroups = 2;
constexpr int64_t kMemorySlabBytes = 8 * 16 * 32 * 4, kMemoryBarrierBytes = 16, kLastBytes = 48,
                  kWordBytes = 4;
constexpr int64_t kWordsOfCodes = 1, kWordsOfPairs = 4; // of scales of a line and stage

/// A plan's numbers, in the order of the device's Tile.
struct MemoryTile {
  int64_t columns, stages, scaleWords, groupRows, hasFactors = 0;

  /// Whether sums are added up while others are taken out.
  bool hasTwoBuffers() const { return scaleWords == 0 || columns == 128; }
  /// Places of the sum that a stage has, of kDepth bytes of a line.
  int64_t depth() const { return scaleWords == kWordsOfPairs ? 2 * kDepth : kDepth; }
  int64_t sharedBytes() const {
    int64_t line = kDepth + scaleWords * kWordBytes;
    int64_t factors = hasFactors ? (kRows + columns) * kWordBytes + kMemoryBarrierBytes : 0;
    return stages * ((kRows + columns) * line + kMemoryBarrierBytes + factors) + kLastBytes +
           kMemorySlabBytes;
  }
};

constexpr int64_t kGroupRows = 16;
constexpr MemoryTile kNarrow = {128, 6, 0, kGroupRows}, kWide = {256, 4, 0, kGroupRows},
                     kOfBlocks = {128, 6, kWordsOfCodes, kGroupRows},
                     kOfPairs = {128, 5, kWordsOfPairs, kGroupRows},
                     kOfFactors = {128, 6, 0, kGroupRows, 1};

std::optional<MemoryTile> memoryTileOf(CudaPlanAttr plan) {
  ArrayRef<int64_t> n = plan.getTile();
  if (n.size() != 4 && n.size() != 5)
    return std::nullopt;
  MemoryTile tile{n[0], n[1], n[2], n[3], n.size() == 5 ? n[4] : 0};
  bool fits = (tile.columns == 128 || tile.columns == 256) && tile.stages >= 2 &&
              llvm::is_contained({int64_t(0), kWordsOfCodes, kWordsOfPairs}, tile.scaleWords) &&
              tile.groupRows > 0 && (tile.hasFactors == 0 || tile.hasFactors == 1);
  return fits ? std::optional(tile) : std::nullopt;
}

std::string whyNoTensorMemory(KernelOp kernel) {
  if (std::string why = whyNoCopies(kernel); !why.empty())
    return why;
  if (std::string why = whyNotFetched(kernel); !why.empty())
    return why;
  if (usesLhsSum(kernel))
    return "the sum of lhs, whose codes no thread sees";
  return "";
}

Tiling tilingOf(KernelOp kernel, const MemoryTile &tile) {
  Tiling tiling;
  tiling.tensor = tiling.tensorMemory = tiling.float8 = true;
  tiling.float4 = tile.scaleWords == kWordsOfPairs;
  tiling.promotes = promotes(kernel);
  tiling.factors = tile.hasFactors != 0;
  tiling.rows = kRows;
  tiling.columns = static_cast<double>(tile.columns);
  tiling.depth = static_cast<double>(tile.depth());
  tiling.stages = static_cast<double>(tile.stages);
  tiling.threads = kThreads;
  tiling.registers = kRegisters;
  tiling.sharedBytes = static_cast<double>(tile.sharedBytes());
  tiling.alternates = tile.hasTwoBuffers();
  tiling.sharedTraffic = // written once, read once
      2 * (tiling.rows + tiling.columns) * kDepth / tiling.depth;
  return tiling;
}

int64_t scaleWordsOf(KernelOp kernel) {
  if (multipliesFloat4(kernel))
    return kWordsOfPairs;
  return multipliesBlocks(kernel) && !multipliesByFactors(kernel) ? kWordsOfCodes : 0;
}

/// ptxas spills wide tiles of promoted sums, and those of elements with several operands; of blocks
/// they have one set of sums.
bool isTakenFor(KernelOp kernel, const MemoryTile &tile) {
  constexpr int64_t kMostBesideWide = 1;
  bool mayBeWide =
      tile.scaleWords == 0 && !promotes(kernel) && countVectors(kernel) <= kMostBesideWide;
  return tile.scaleWords == scaleWordsOf(kernel) &&
         (tile.hasFactors != 0) == multipliesByFactors(kernel) &&
         (tile.columns == kNarrow.columns || mayBeWide);
}

class TensorMemoryForm final : public PlanForm {
public:
  StringRef getDeviceName() const override { return "tensor_memory_contraction"; }

  std::string whyNot(const PlanList &plans) const override {
    return whyNoTensorMemory(plans.kernel);
  }

  void addPlans(PlanList &plans) const override {
    int64_t places = multipliesFloat4(plans.kernel) ? kPackedCodes : 1;
    for (const MemoryTile &tile : {kNarrow, kWide, kOfBlocks, kOfPairs, kOfFactors})
      if (isTakenFor(plans.kernel, tile)) {
        SmallVector<int64_t> numbers{tile.columns, tile.stages, tile.scaleWords, tile.groupRows};
        if (tile.hasFactors)
          numbers.push_back(tile.hasFactors);
        addWithSplits(plans, CudaPlanKind::TensorMemory, numbers, tilingOf(plans.kernel, tile),
                      kGroupSplits, places);
      }
  }

  FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override {
    std::optional<MemoryTile> tile = memoryTileOf(plan);
    if (!tile || plan.getLeast() < 1 || plan.getSplits() < 1 ||
        !(multipliesFloat8(kernel) || multipliesFloat4(kernel)) || !isTakenFor(kernel, *tile))
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
    launch.maps = {tensorMapOf(kernel, lhsMatrix(kernel), kRows),
                   tensorMapOf(kernel, rhsMatrix(kernel), tile->columns)};
    return launch;
  }

  std::string describe(CudaPlanAttr plan) const override {
    MemoryTile tile = *memoryTileOf(plan);
    return ("tensor " + extentsText({kRows, tile.columns, tile.depth()}) + ", tensor memory, " +
            Twine(tile.stages) + " stages")
        .str();
  }

  std::string getTileArguments(CudaPlanAttr plan) const override {
    MemoryTile tile = *memoryTileOf(plan);
    std::string text = (Twine(tile.columns) + ", " + Twine(tile.stages) + ", " +
                        Twine(tile.scaleWords) + ", " + Twine(tile.groupRows))
                           .str();
    if (plan.getSplits() > 1 || tile.hasFactors)
      text += plan.getSplits() > 1 ? ", true" : ", false";
    return text + (tile.hasFactors ? ", true" : "");
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

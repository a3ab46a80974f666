// SPDX-License-Identifier: Apache-2.0
// On tensor cores: two f16, two bf16 or two tf32 operands, from sm_80 on also two different ones,
// where the sum may take any order (P21); from sm_89 on two floats of 8 bits, where rules leave its
// digits to the chip, too (N13, N14).
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/emit/cuda/Regions.h"
#include "codegen/ir/GatheredLines.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "codegen/skeletons/contraction/PlanForm.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

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
constexpr int64_t kSplits[] = {1, 2, 4, 8, 16, 32, 64};

TensorType lhsOf(KernelOp kernel) {
  return cast<TensorType>(kernel.getInputs()[findMatrices(kernel).lhs].getType());
}
TensorType rhsOf(KernelOp kernel) {
  return cast<TensorType>(kernel.getInputs()[findMatrices(kernel).rhs].getType());
}

/// Whether tensor_contraction.cuh has fragments of it.
bool isTaken(Type element) { return isNarrow(element) && bitsOf(element) >= 16; }

/// What of rhs is multiplied: codes of a weight become numbers of lhs's format, which has all of
/// theirs (P82).
Type multipliedRhs(KernelOp kernel) {
  return multipliesCodes(kernel) ? lhsOf(kernel).getElementType() : rhsOf(kernel).getElementType();
}

/// Of an element of either operand in shared memory; two different formats go as tf32, but for
/// those of 8 bits, and for pairs of 4.
int64_t sharedElementBytes(KernelOp kernel) {
  if (multipliesFloat8(kernel) || multipliesFloat4(kernel))
    return 1;
  Type lhs = lhsOf(kernel).getElementType(), rhs = multipliedRhs(kernel);
  return bitsOf(lhs == rhs ? lhs : FloatTF32Type::get(kernel.getContext())) / 8;
}

/// Places of a sum that a block-scaled instruction multiplies by one scale, or of 4 bits pairs of
/// them by one word of scales, and a scale's bytes.
constexpr int64_t kScaledPlaces = 32, kScaleBytes = 4;

/// Bytes of the scales of a line and stage: a factor is that of all, and there is room for two.
int64_t scaleBytesOf(KernelOp kernel, ArrayRef<int64_t> tile) {
  if (multipliesByFactors(kernel))
    return 2 * kScaleBytes;
  return multipliesBlocks(kernel) ? tile[2] / kScaledPlaces * kScaleBytes : 0;
}

/// Of a block, as tensor_contraction.cuh lays it out.
int64_t sharedBytes(KernelOp kernel, ArrayRef<int64_t> tile) {
  int64_t line = tile[2] * sharedElementBytes(kernel) + scaleBytesOf(kernel, tile);
  int64_t stages = tile[5] * (tile[0] + tile[1]) * line;
  return std::max(stages, 64 * tile[1] * tile[0] / tile[3] + 4 * tile[0]);
}

int64_t threadsOfWarps(ArrayRef<int64_t> tile) {
  return kWarp * (tile[0] / tile[3]) * (tile[1] / tile[4]);
}

LogicalResult verifyPlan(KernelOp kernel, CudaPlanAttr plan) {
  ArrayRef<int64_t> tile = plan.getTile();
  auto isPower = [](int64_t value) { return value > 0 && llvm::isPowerOf2_64(value); };
  bool fits = kernel.hasSum() && tile.size() == 8 && plan.getLeast() > 0 && plan.getSplits() > 0 &&
              llvm::all_of(tile.take_front(5), isPower) && llvm::all_of(tile.take_back(2), isPower);
  if (fits) {
    int64_t threads = threadsOfWarps(tile);
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
    Type element = elementType(input);
    if (isMatrix(kernel, i) && kernel.getInputAccess(i).getKind() != AccessKind::Start &&
        !isTaken(element) && !isCodes(input) && !multipliesFloat8(kernel) &&
        !multipliesFloat4(kernel))
      return kernel.emitOpError() << "operand " << i << " holds " << element
                                  << ", which tensor cores do not take";
  }
  return success();
}

/// Counters, partial sums, and sums of lhs by chunks, as tensor_contraction.cuh lays them out.
void addWorkspace(KernelOp kernel, ArrayRef<int64_t> tile, Launch &launch) {
  launch.workspace.push_back({4, launch.axes, false, true});
  launch.workspace.push_back({4 * tile[0] * tile[1], launch.axes, true, false});
  if (kernel.getBody().front().getOps<LhsSumOp>().empty())
    return;
  Dims depth(kernel.getReduction().getValue());
  launch.workspace.push_back(
      {4 * tile[0], {{depth, kSumChunk}, launch.axes.front()}, false, false});
}

/// The largest of 2, 4, 8 and 16 that divides the bytes of a row, whatever symbols stand for; 2 for
/// odd rows of codes, which go byte by byte.
int64_t alignment(KernelOp kernel, unsigned matrix) {
  int64_t rowBytes =
      countNeighbours(kernel, matrix) * bitsOf(elementType(kernel.getInputs()[matrix])) / 8;
  return std::clamp<int64_t>(rowBytes & -rowBytes, 2, 16);
}

constexpr int kFirstOfFloat8 = 89; ///< chip with mma.sync of 8-bit floats

/// Why a chip's tensor cores are not given the operands, of which one has 8 bits.
std::string whyNotFloat8(KernelOp kernel, const Chip &chip) {
  Type lhs = lhsOf(kernel).getElementType(), rhs = rhsOf(kernel).getElementType();
  auto name = [](Type type) { return std::string(encoding::word(elementOf(type))); };
  if (!multipliesFloat8(kernel))
    return name(isTaken(lhs) ? rhs : lhs) + " operands: tensor cores are given none of 8 bits" +
           (isFloat8(lhs) && isFloat8(rhs) ? " but under accumulate hardware or promoted" : "");
  if (chip.number < kFirstOfFloat8)
    return (chip.name + " has no tensor cores for " + name(lhs) + "; sm_89 is the first").str();
  if (findGatheredInput(kernel))
    return "a matrix of " + name(lhs) + " that is gathered: what lies in memory is copied";
  Matrices matrices = findMatrices(kernel);
  for (unsigned matrix : {matrices.lhs, matrices.rhs})
    if (alignment(kernel, matrix) < kLeastCodes)
      return "rows of " + name(elementType(kernel.getInputs()[matrix])) +
             " that do not begin at multiples of 4 bytes, the least that is copied";
  return kernel.getTransposeLhs() && !kernel.getTransposeRhs()
             ? whyNotBothAcross(alignment(kernel, matrices.lhs), alignment(kernel, matrices.rhs))
             : "";
}

/// Whether float8_contraction.cuh runs the tile on an operand of codes, `extent` of it in a block
/// and `warpExtent` in a warp: along the extent a warp turns 32, and chunks of lines that one
/// thread copies are exchanged alike where they are not eight apart.
bool fitsCodes(bool alongDepth, int64_t extent, int64_t warpExtent, int64_t bytes,
               int64_t threads) {
  return alongDepth || (warpExtent >= 32 && threads * bytes / extent != 8);
}

/// Bytes through shared memory that stand for one element of 16 bits that is copied by itself,
/// since its row begins nowhere else: an H200's head of 50257 columns took as long.
constexpr double kLoneElement = 43;

Tiling tilingOf(KernelOp kernel, ArrayRef<int64_t> tile) {
  int64_t elementBytes = sharedElementBytes(kernel);
  Tiling tiling;
  tiling.tensor = true;
  tiling.float8 = elementBytes == 1;
  tiling.tf32 = elementBytes == 4;
  tiling.rows = static_cast<double>(tile[0]);
  tiling.columns = static_cast<double>(tile[1]);
  tiling.depth = static_cast<double>(tile[2]);
  auto warpRows = static_cast<double>(tile[3]), warpColumns = static_cast<double>(tile[4]);
  double warps = tiling.rows / warpRows * (tiling.columns / warpColumns);
  tiling.threads = 32 * warps;
  tiling.stages = static_cast<double>(tile[5]);
  tiling.sharedBytes = static_cast<double>(sharedBytes(kernel, tile));
  // Sums, two sets of fragments, and what addresses and the epilogue take.
  tiling.registers = warpRows * warpColumns / 32 * (promotes(kernel) ? 2 : 1) +
                     2 * (warpRows / 4 + warpColumns / 4) + 48;
  double element = static_cast<double>(elementBytes) +
                   static_cast<double>(scaleBytesOf(kernel, tile)) / tiling.depth;
  if (multipliesBlocks(kernel) && !multipliesByFactors(kernel))
    tiling.registers += 2 * (warpRows / 16 + warpColumns / 8);
  tiling.sharedTraffic =
      (tiling.rows + tiling.columns) * element + warps * (warpRows + warpColumns) * element;
  if (multipliesFloat4(kernel)) { // bytes are pairs of places
    tiling.float4 = true;
    tiling.depth *= 2;
    tiling.sharedTraffic /= 2;
  }
  constexpr int64_t kLone = 2; // bytes that are copied at once
  if (tile[6] == kLone)
    tiling.sharedTraffic += kLoneElement * tiling.rows;
  if (tile[7] == kLone)
    tiling.sharedTraffic += kLoneElement * tiling.columns;
  return tiling;
}

void addTile(PlanList &plans, ArrayRef<int64_t> tile) {
  KernelOp kernel = plans.kernel;
  if (multipliesFloat8(kernel) &&
      !(fitsCodes(!kernel.getTransposeLhs(), tile[0], tile[3], tile[6], threadsOfWarps(tile)) &&
        fitsCodes(kernel.getTransposeRhs(), tile[1], tile[4], tile[7], threadsOfWarps(tile))))
    return;
  Tiling tiling = tilingOf(kernel, tile);
  if (tiling.float8 && !plans.chip.multipliesFloat8())
    tiling.registers += static_cast<double>(tile[3]) / 2; // lhs as f16, of which codes are made
  addWithSplits(plans, CudaPlanKind::Tensor, tile, tiling,
                ArrayRef(kSplits).take_front(elementsUseLhsSum(kernel) ? 1 : 7),
                multipliesFloat4(kernel) ? kPackedCodes : 1);
}

/// Of one operand.
std::string constantsOf(KernelOp kernel, unsigned scales, StringRef constants, StringRef pitch) {
  AffineMap map = kernel.getInputAccess(scales).getMap().getValue();
  int64_t lines = 1, depth = 1;
  for (AffineExpr at : map.getResults().take_back(2)) {
    auto part = dyn_cast<AffineBinaryOpExpr>(at);
    auto axis = dyn_cast<AffineDimExpr>(part ? part.getLHS() : at);
    int64_t size = part ? cast<AffineConstantExpr>(part.getRHS()).getValue() : 1;
    (axis.getPosition() < kernel.getDomain().size() ? lines : depth) = size;
  }
  auto type = cast<TensorType>(kernel.getInputs()[scales].getType());
  return bodyConstant((constants + "Lines").str(), lines) +
         bodyConstant((constants + "Places").str(), depth) + "  " + kDevice.str() + " long long " +
         pitch.str() + "() const { return " + cudaProduct(type.getDims().take_back()) + "; }\n";
}

class TensorForm final : public PlanForm {
public:
  StringRef getDeviceName() const override { return "tensor_contraction"; }

  std::string whyNot(const PlanList &plans) const override {
    Type lhs = lhsOf(plans.kernel).getElementType(), rhs = multipliedRhs(plans.kernel);
    auto name = [](Type type) { return std::string(encoding::word(elementOf(type))); };
    if (!mayReorder(plans.kernel))
      return "accumulate ordered: tensor cores sum in an order of their own";
    if (multipliesFloat4(plans.kernel))
      return "";
    if (!isNarrow(lhs) || !isNarrow(rhs))
      return "f32 operands: tensor cores would round them to tf32, which compute tf32 allows";
    if (!isTaken(lhs) || !isTaken(rhs))
      return whyNotFloat8(plans.kernel, plans.chip);
    if (lhs != rhs && plans.chip.number < 80)
      return "operands of " + name(lhs) + " and " + name(rhs) +
             ": tensor cores take two of one format below sm_80";
    if (elementOf(lhs) != Element::f16 && plans.chip.number < 80)
      return (plans.chip.name + " has no tensor cores for " + name(lhs) + "; sm_80 is the first")
          .str();
    return "";
  }

  void addPlans(PlanList &plans) const override {
    const Chip &chip = plans.chip;
    int64_t stages = chip.number < 80 ? 2 : chip.sharedPerSm > (100 << 10) ? 4 : 3;
    int64_t elementBytes = sharedElementBytes(plans.kernel);
    Matrices matrices = findMatrices(plans.kernel);
    // Of 128 codes of 4 bits, whose sums are parts (N14).
    bool isShort = multipliesFloat4(plans.kernel) && promotes(plans.kernel);
    for (const TensorTile &tile : kTensorTiles)
      addTile(plans,
              {tile.rows, tile.columns, isShort ? 64 : tile.depthBytes / elementBytes,
               tile.warpRows, tile.warpColumns, stages, alignment(plans.kernel, matrices.lhs),
               alignment(plans.kernel, matrices.rhs)});
  }

  FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override {
    if (failed(verifyPlan(kernel, plan)))
      return failure();
    ArrayRef<int64_t> tile = plan.getTile();
    Launch launch;
    launch.threads = threadsOfWarps(tile);
    launch.axes = getTileAxes(kernel, tile[0], tile[1]);
    int64_t shared = sharedBytes(kernel, tile);
    launch.sharedBytes = shared > kStaticShared ? shared : 0;
    if (plan.getSplits() > 1)
      addWorkspace(kernel, tile, launch);
    return launch;
  }

  std::string describe(CudaPlanAttr plan) const override {
    ArrayRef<int64_t> tile = plan.getTile();
    return ("tensor " + extentsText(tile) + ", warps " + Twine(tile[3]) + "x" + Twine(tile[4]) +
            ", " + Twine(tile[5]) + " stages")
        .str();
  }
  std::string getTileArguments(CudaPlanAttr plan) const override {
    return PlanForm::getTileArguments(plan) + ", " + std::to_string(plan.getSplits());
  }

  void addTo(BodyForm &form, KernelOp kernel, CudaPlanAttr plan) const override {
    form.constants += bodyConstant("kElementsUseLhsSum", elementsUseLhsSum(kernel)) +
                      bodyConstant("kWidth", accessWidth(kernel));
    form.constants += codeConstants(kernel);
    form.workspace = plan.getSplits() > 1;
  }
};

} // namespace

std::string codeConstants(KernelOp kernel) {
  if (!multipliesFloat8(kernel) && !multipliesFloat4(kernel))
    return "";
  std::string constants = bodyConstant("kPromotes", promotes(kernel));
  if (multipliesFloat4(kernel))
    return constants + bodyConstant("kScalePlaces",
                                    kernel->getAttrOfType<IntegerAttr>(kScalePlacesAttr).getInt());
  if (!multipliesBlocks(kernel))
    return constants;
  Matrices matrices = findMatrices(kernel);
  return constants + constantsOf(kernel, *matrices.lhsScales, "kLhsScale", "lhs_scale_pitch") +
         constantsOf(kernel, *matrices.rhsScales, "kRhsScale", "rhs_scale_pitch");
}

const PlanForm &tensorForm() {
  static const TensorForm form;
  return form;
}

} // namespace halftone::skeletons

// SPDX-License-Identifier: Apache-2.0
// Without tensor cores: any format, every sum one chain (N1).
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/contraction/PlanForm.h"

using namespace mlir;
using namespace halftone::ir;

namespace halftone::skeletons {

namespace {

/// Rows and columns of a block, depth, rows and columns of a thread.
constexpr std::array<int64_t, 5> kTiles[] = {
    {64, 16, 16, 4, 4}, {32, 32, 16, 2, 4}, {64, 64, 16, 4, 4}, {128, 128, 8, 8, 8}};

int64_t threadsOf(ArrayRef<int64_t> tile) { return tile[0] / tile[3] * (tile[1] / tile[4]); }

bool fits(ArrayRef<int64_t> tile) {
  return tile.size() == 5 && llvm::all_of(tile, [](int64_t value) { return value > 0; }) &&
         tile[0] % 4 == 0 && tile[2] % 4 == 0 && tile[4] % 4 == 0 && 128 % tile[2] == 0 &&
         tile[0] % tile[3] == 0 && tile[1] % tile[4] == 0 && (tile[3] < 4 || tile[3] % 4 == 0) &&
         isWarps(threadsOf(tile)) && tile[0] <= threadsOf(tile);
}

Tiling tilingOf(ArrayRef<int64_t> tile) {
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
  return tiling;
}

class SimtForm final : public PlanForm {
public:
  std::string whyNot(const PlanList &) const override { return {}; }
  StringRef getDeviceName() const override { return "contraction"; }
  std::string describe(CudaPlanAttr plan) const override {
    return "simt " + extentsText(plan.getTile());
  }

  void addPlans(PlanList &plans) const override {
    auto add = [&](ArrayRef<int64_t> tile) {
      plans.add(CudaPlanKind::Simt, tile, 1, 1,
                estimateContraction(plans.chip, plans.problem, tilingOf(tile)));
    };
    if (std::optional<ArrayRef<int64_t>> byHand = plans.kernel.getCudaTile())
      return add(*byHand);
    for (const auto &tile : kTiles)
      add(tile);
  }

  FailureOr<Launch> getLaunch(KernelOp kernel, CudaPlanAttr plan) const override {
    ArrayRef<int64_t> tile = plan.getTile();
    if (!fits(tile))
      return refuseTile(kernel);
    Launch launch;
    launch.threads = threadsOf(tile);
    launch.axes = getTileAxes(kernel, tile[0], tile[1]);
    return launch;
  }
};

} // namespace

const PlanForm &simtForm() {
  static const SimtForm form;
  return form;
}

} // namespace halftone::skeletons

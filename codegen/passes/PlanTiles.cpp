// SPDX-License-Identifier: Apache-2.0
// Tiles of every kernel: on the CPU those of its skeleton, on chips by the cost model.
#include "codegen/passes/Passes.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/Skeletons.h"

namespace halftone::ir {
#define GEN_PASS_DEF_PLANTILES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

struct PlanTilesPass : halftone::ir::impl::PlanTilesBase<PlanTilesPass> {
  using PlanTilesBase::PlanTilesBase;

  void runOnOperation() override {
    SmallVector<const Chip *> planned;
    AssumedSizes sizes;
    if (failed(readOptions(planned, sizes)))
      return signalPassFailure();
    getOperation().walk([&](KernelOp kernel) {
      const skeletons::Skeleton &skeleton = skeletons::of(kernel);
      kernel.setCpuTile(skeleton.getDefaultCpuTile(kernel));
      SmallVector<Attribute> plans;
      for (const Chip *chip : planned) {
        PlanList list(kernel, *chip, sizes);
        skeleton.addPlans(list);
        if (auto reason = kernel->getAttrOfType<StringAttr>(kNotJoinedAttr))
          list.reason = reason.str();
        plans.push_back(list.take());
      }
      kernel.setCudaPlansAttr(plans.empty() ? ArrayAttr() : ArrayAttr::get(&getContext(), plans));
    });
  }

private:
  LogicalResult readOptions(SmallVectorImpl<const Chip *> &planned, AssumedSizes &sizes) {
    for (const std::string &name : chips) {
      const Chip *chip = findChip(name);
      if (!chip)
        return getOperation().emitError() << "'" << name << "' is no chip that kernels are planned "
                                          << "for";
      planned.push_back(chip);
    }
    std::vector<std::string> entries(assume.begin(), assume.end());
    if (std::optional<std::string> fault = readAssumedSizes(entries, sizes))
      return getOperation().emitError() << *fault;
    return success();
  }
};

} // namespace
} // namespace halftone::ir

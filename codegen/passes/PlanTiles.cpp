// SPDX-License-Identifier: Apache-2.0
// Tiles of every kernel: on the CPU those of its skeleton, on chips by the cost model.
#include "codegen/passes/Passes.h"
#include "codegen/plan/PlanList.h"
#include "codegen/skeletons/Skeletons.h"
#include "llvm/ADT/DenseMap.h"

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
        PlanList list(kernel, *chip, sizesOf(kernel, sizes));
        skeleton.addPlans(list);
        if (auto reason = kernel->getAttrOfType<StringAttr>(kNotJoinedAttr))
          list.reason = reason.str();
        if (auto reason = kernel->getAttrOfType<StringAttr>(kNoEightBitsAttr))
          list.noEightBits = chip->multipliesCodes()
                                 ? reason.str()
                                 : (chip->name + " multiplies no floats of 8 bits as such").str();
        plans.push_back(list.take());
      }
      kernel.setCudaPlansAttr(plans.empty() ? ArrayAttr() : ArrayAttr::get(&getContext(), plans));
    });
  }

private:
  /// In a section of chunks, of a chunk. The section's first kernel has its rows as its domain's.
  const AssumedSizes &sizesOf(KernelOp kernel, const AssumedSizes &sizes) {
    auto most = kernel->getAttrOfType<IntegerAttr>(kChunkRowsAttr);
    if (!most)
      return sizes;
    auto section = std::pair(kernel->getParentOp(), kernel->getAttr(kSectionAttr));
    auto [found, isNew] = chunks.try_emplace(section, sizes);
    if (isNew) {
      ArrayRef<Attribute> rows = kernel.getDomainType().getRowDims();
      int64_t all = 1;
      auto assumed = [&](Attribute dim) {
        auto symbol = dyn_cast<StringAttr>(dim);
        return symbol ? assumedSize(sizes, symbol.getValue()) : cast<IntegerAttr>(dim).getInt();
      };
      for (Attribute dim : rows.drop_front())
        all *= assumed(dim);
      found->second[cast<StringAttr>(rows.front()).getValue()] =
          std::clamp<int64_t>(most.getInt() / all, 1, assumed(rows.front()));
    }
    return found->second;
  }

  LogicalResult readOptions(SmallVectorImpl<const Chip *> &planned, AssumedSizes &sizes) {
    for (const std::string &name : chips) {
      const Chip *chip = findChip(name);
      if (!chip)
        return getOperation().emitError() << "'" << name << "' is no chip that kernels are planned "
                                          << "for";
      planned.push_back(chip);
    }
    return readAssumedSizes(getOperation(), assume, sizes);
  }

  llvm::DenseMap<std::pair<Operation *, Attribute>, AssumedSizes> chunks;
};

} // namespace
} // namespace halftone::ir

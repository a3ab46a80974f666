// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/CudaTargets.h"

#include "codegen/emit/TaskAxes.h"
#include "codegen/emit/cuda/GatheredMatrix.h"
#include "codegen/emit/cuda/KernelText.h"
#include "codegen/skeletons/Skeletons.h"

using namespace mlir;
namespace hm = halftone::manifest;

namespace halftone::ir {

int32_t CudaTexts::insert(StringRef kernel, StringRef chip, CudaText text) {
  auto [it, isNew] = indices.try_emplace(text.text, static_cast<int32_t>(texts.size()));
  if (isNew) {
    bool isFirst = names.try_emplace(kernel, 0).second;
    text.name = ((isFirst ? "" : chip + "/") + kernel).str();
    texts.push_back(std::move(text));
  }
  std::vector<std::string> &chips = texts[it->second].chips;
  if (!llvm::is_contained(chips, chip))
    chips.push_back(chip.str());
  return it->second;
}

static ChipPlansAttr findPlans(KernelOp kernel, StringRef chip) {
  if (std::optional<ArrayAttr> all = kernel.getCudaPlans())
    for (auto plans : all->getAsRange<ChipPlansAttr>())
      if (plans.getChip() == chip && !plans.getPlans().empty())
        return plans;
  return {};
}

static FailureOr<hm::CudaKernel> describe(KernelOp kernel, StringRef chip,
                                          const hm::Manifest &manifest, CudaTexts &texts) {
  ChipPlansAttr plans = findPlans(kernel, chip);
  if (!plans)
    return kernel.emitOpError() << "has no plan for " << chip
                                << "; run halftone-plan-tiles with that chip";
  const skeletons::Skeleton &skeleton = skeletons::of(kernel);
  CudaPlanAttr chosen = plans.getPlans().front();
  FailureOr<skeletons::Launch> launch = skeleton.getLaunch(kernel, chosen);
  FailureOr<std::string> text =
      emitCudaText(kernel, chosen, manifest.model, manifest.halftone_version, manifest.symbols);
  if (failed(launch) || failed(text))
    return failure();
  hm::CudaKernel result;
  result.entry = cudaEntryName(kernel);
  result.text = texts.insert(kernel.getName(), chip,
                             {.name = {},
                              .text = std::move(*text),
                              .chips = {},
                              .entry = result.entry,
                              .threads = launch->threads,
                              .sharedBytes = launch->sharedBytes});
  result.threads = static_cast<int32_t>(launch->threads);
  result.shared_bytes = launch->sharedBytes;
  result.blocks = taskAxesOf(launch->axes, manifest.symbols);
  for (ArrayRef<Attribute> extents : countedInImages(kernel))
    result.blocks.push_back({dimensionsOf(extents, manifest.symbols), hm::kMostOfImage});
  result.resident = static_cast<int32_t>(launch->resident);
  for (const skeletons::Launch::Map &map : launch->maps) {
    hm::TensorMap &its = result.maps.emplace_back();
    its.argument = static_cast<int32_t>(map.input);
    its.element =
        elementOf(cast<TensorType>(kernel.getInputs()[map.input].getType()).getElementType());
    for (const auto &dimension : map.dimensions)
      its.dimensions.push_back(
          {dimensionsOf(dimension.extent, manifest.symbols), static_cast<int32_t>(dimension.box)});
  }
  if (chosen.getSplits() > 1)
    result.split = {dimensionsOf(kernel.getReduction().getValue(), manifest.symbols),
                    chosen.getLeast(), static_cast<int32_t>(chosen.getSplits())};
  for (const skeletons::Launch::Work &part : launch->workspace)
    result.workspace.push_back(
        {part.bytes, taskAxesOf(part.axes, manifest.symbols), part.perSplit, part.zeroed});
  for (CudaPlanAttr plan : plans.getPlans()) {
    ArrayRef<double> cost = plan.getCost();
    FailureOr<skeletons::Launch> itsLaunch = skeleton.getLaunch(kernel, plan);
    if (failed(itsLaunch))
      return failure();
    result.plans.push_back(
        {skeleton.describePlan(plan, *itsLaunch), {cost[0], cost[1], cost[2], cost[3]}});
  }
  result.reason = plans.getReason().str();
  result.no_warpgroups = plans.getNoWarpgroups().str();
  result.no_eight_bits = plans.getNoEightBits().str();
  return result;
}

LogicalResult describeCuda(ManifestAndKernels &planned, CudaTexts &texts) {
  hm::Manifest &manifest = planned.manifest;
  for (const std::string &target : manifest.targets) {
    if (target == "cpu")
      continue;
    hm::CudaTarget &chip = manifest.cuda.emplace_back();
    chip.chip = target;
    for (KernelOp kernel : planned.kernels) {
      FailureOr<hm::CudaKernel> described = describe(kernel, target, manifest, texts);
      if (failed(described))
        return failure();
      chip.kernels.push_back(std::move(*described));
    }
  }
  return success();
}

} // namespace halftone::ir

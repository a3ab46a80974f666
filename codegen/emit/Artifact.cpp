// SPDX-License-Identifier: Apache-2.0
// From a Description to everything that halftonec writes.
#include "codegen/emit/Artifact.h"

#include "codegen/emit/ApiHeader.h"
#include "codegen/emit/ManifestBuilder.h"
#include "codegen/emit/MemoryBudget.h"
#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/emit/cpu/Objects.h"
#include "codegen/import/FromDescription.h"
#include "codegen/import/Names.h"
#include "codegen/ir/Rules.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "halftone/manifest/texts.hpp"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;
namespace hm = halftone::manifest;

namespace halftone::ir {

namespace {

/// What rules resolve for in one way.
struct Resolution {
  std::string text;
  ResolvedFor resolved;
  OwningOpRef<ModuleOp> module;
  ManifestAndKernels planned;

  bool isCpu() const { return llvm::is_contained(resolved.targets, "cpu"); }
};

/// What CPU code is made for.
struct CpuCode {
  explicit CpuCode(const PipelineOptions &options)
      : architecture(options.cpuArchitecture), optimize(options.optimize) {
    if (architecture.empty())
      architecture = cpu::hostArchitecture();
    llvm::copy_if(cpu::cpuVariants(architecture), std::back_inserter(variants), [&](auto &variant) {
      return options.variants.empty() || llvm::is_contained(options.variants, variant.name);
    });
  }

  std::string architecture;
  bool optimize;
  std::vector<cpu::CpuVariant> variants; ///< best first
};

/// The CPU's kernels of all stages, equal ones once, each under a name of its own: the names of
/// their functions. Says in the manifests which entry each kernel has; finishes follow all kernels.
std::vector<KernelOp> gatherCpuKernels(std::vector<Resolution> &resolutions) {
  std::vector<KernelOp> kernels;
  llvm::StringMap<int32_t> entries;
  llvm::StringSet<> names;
  for (Resolution &resolution : resolutions) {
    if (!resolution.isCpu())
      continue;
    ManifestAndKernels &planned = resolution.planned;
    for (auto [kernel, op, structure] :
         llvm::zip_equal(planned.manifest.kernels, planned.kernels, planned.structures)) {
      auto [entry, isNew] = entries.try_emplace(structure, static_cast<int32_t>(kernels.size()));
      kernel.cpu_entry = entry->second;
      if (!isNew)
        continue;
      for (int again = 2; !names.insert(op.getName()).second; ++again)
        op.setName(kernel.name + "_" + std::to_string(again));
      kernels.push_back(op);
    }
  }
  auto finish = static_cast<int32_t>(kernels.size());
  std::vector<int32_t> finishes;
  for (KernelOp kernel : kernels)
    finishes.push_back(kernel.hasFinish() ? finish++ : -1);
  for (Resolution &resolution : resolutions)
    if (resolution.isCpu())
      for (hm::Kernel &kernel : resolution.planned.manifest.kernels)
        kernel.cpu_finish = finishes[kernel.cpu_entry];
  return kernels;
}

/// Code for `kernels`, and all that the object carries beside it: the artifact's object and
/// identity.
LogicalResult emitCpuObject(ArrayRef<KernelOp> kernels, Artifact &artifact, const CpuCode &cpuCode,
                            MLIRContext *context) {
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> code = ModuleOp::create(builder, builder.getUnknownLoc());
  cpu::ObjectParts parts;
  parts.architecture = cpuCode.architecture;
  const hm::Manifest &first = artifact.manifests.front();
  for (const cpu::CpuVariant &variant : cpuCode.variants) {
    std::vector<std::string> entries, finishes;
    for (KernelOp kernel : kernels) {
      if (failed(cpu::buildCpuKernel(kernel, variant, first.symbols, *code)))
        return failure();
      entries.push_back(cpu::entryName(kernel, variant));
      if (kernel.hasFinish())
        finishes.push_back(cpu::finishName(kernel, variant));
    }
    llvm::append_range(entries, finishes);
    parts.entries.push_back(std::move(entries));
  }
  for (const manifest::Manifest &manifest : artifact.manifests)
    parts.manifests.push_back(manifest::encode(manifest));
  std::vector<std::string> texts;
  for (const CudaText &text : artifact.texts)
    texts.push_back(text.text);
  for (const manifest::AheadImage &image : artifact.ahead)
    texts.push_back(manifest::entry_of(image));
  std::vector<std::byte> packed = manifest::pack_texts(texts);
  parts.texts = packed;
  parts.modelName = first.model;
  parts.optimize = cpuCode.optimize;
  artifact.identity = cpu::identityOf(parts);
  FailureOr<SmallVector<char>> object = cpu::emitObject(*code, parts);
  if (succeeded(object))
    artifact.object = std::move(*object);
  return object;
}

} // namespace

/// The description through the whole pipeline, for what rules do not tell apart.
static PlannedModule planOnce(const description::Description &description,
                              const ResolvedFor &resolved, PipelineOptions options,
                              MLIRContext *context) {
  description::Description imported = description;
  if (options.decode)
    imported.losses.clear(); // and with them training
  Situation first = resolved.first();
  OwningOpRef<ModuleOp> module = importDescription(imported, first.target, context, first.stage);
  options.chips.clear();
  llvm::copy_if(resolved.targets, std::back_inserter(options.chips),
                [](const std::string &target) { return target != "cpu"; });
  PassManager manager(context);
  manager.enableVerifier(options.optimize);
  buildPipeline(manager, options);
  if (failed(manager.run(*module)) || (!options.optimize && failed(verify(*module))))
    return failure();
  return module;
}

/// Likewise, within what rules leave activations (P67).
static PlannedModule plan(const description::Description &description, const ResolvedFor &resolved,
                          const PipelineOptions &options, MLIRContext *context) {
  if (options.decode)
    return planOnce(description, resolved, options, context);
  AssumedSizes assumed;
  if (std::optional<std::string> fault = readAssumedSizes(options.assumed, assumed))
    return emitError(UnknownLoc::get(context)) << *fault;
  return planWithinBudget(description, resolved, assumed, context, [&](int64_t steps) {
    PipelineOptions of = options;
    of.steps = steps;
    return planOnce(description, resolved, of, context);
  });
}

/// The CPU's resolution first; every target in one.
static std::vector<Resolution> resolve(const description::Description &description,
                                       ArrayRef<std::string> targets,
                                       const std::vector<std::string> &stages) {
  std::vector<Resolution> resolutions;
  auto add = [&](const std::string &target) {
    Situation situation = ResolvedFor{{target}, stages}.first();
    std::string text = resolutionOf(description.rules, situation);
    auto same = llvm::find_if(resolutions, [&](auto &other) { return other.text == text; });
    if (same == resolutions.end()) {
      resolutions.emplace_back().text = std::move(text);
      same = std::prev(resolutions.end());
      same->resolved.stages = stages;
    }
    if (!llvm::is_contained(same->resolved.targets, target))
      same->resolved.targets.push_back(target);
  };
  add("cpu");
  llvm::for_each(targets, add);
  return resolutions;
}

/// The stages, those together that rules tell apart on none of the targets; one group of none where
/// none is declared.
static std::vector<std::vector<std::string>>
groupStages(const description::Description &description, ArrayRef<std::string> targets) {
  if (description.stages.empty())
    return {{}};
  std::vector<std::vector<std::string>> groups;
  llvm::StringMap<size_t> known;
  for (const std::string &stage : description.stages) {
    std::string text = resolutionOf(description.rules, {"cpu", stage});
    for (const std::string &target : targets)
      text += "," + resolutionOf(description.rules, {target, stage});
    auto [group, isNew] = known.try_emplace(text, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[group->second].push_back(stage);
  }
  return groups;
}

/// The targets of a resolution that each would be planned alike if planned alone: the CPU, chips
/// that run some kernels otherwise than most, those that leave heads in place, and these.
static std::vector<std::vector<std::string>> waysOf(ModuleOp module,
                                                    ArrayRef<std::string> targets) {
  std::vector<std::vector<std::string>> ways(4);
  for (const std::string &target : targets) {
    auto isAmong = [&](StringRef attribute) {
      auto chips = module->getAttrOfType<ArrayAttr>(attribute);
      return chips && llvm::is_contained(chips.getAsValueRange<StringAttr>(), target);
    };
    bool isCpu = target == "cpu" && module->hasAttr(kCpuApartAttr);
    ways[isCpu                        ? 0
         : isAmong(kChipsApartAttr)   ? 1
         : isAmong(kChipsInPlaceAttr) ? 2
                                      : 3]
        .push_back(target);
  }
  llvm::erase_if(ways, [](auto &way) { return way.empty(); });
  return ways;
}

/// Plans a resolution; where some of its targets would be planned otherwise alone, each way by
/// itself, all but the first as further resolutions.
static LogicalResult planApart(const description::Description &description,
                               std::vector<Resolution> &resolutions, size_t index,
                               const PipelineOptions &options, MLIRContext *context) {
  const ResolvedFor whole = resolutions[index].resolved;
  // The ways do not depend on what is computed again, and each way has a budget of its own.
  bool isBudgeted = memoryBudgetOf(description.rules, whole.first()).field && !options.decode;
  auto module = planOnce(description, whole, options, context);
  if (failed(module))
    return failure();
  std::vector<std::vector<std::string>> ways = waysOf(**module, whole.targets);
  auto inPlace = (**module)->getAttrOfType<ArrayAttr>(kChipsInPlaceAttr);
  auto isInPlace = [&](const std::vector<std::string> &way) {
    return inPlace &&
           llvm::is_contained(inPlace.getAsValueRange<StringAttr>(), StringRef(way.front()));
  };
  if (options.alike || ways.size() == 1) {
    if (isBudgeted)
      module = plan(description, whole, options, context);
    if (failed(module))
      return failure();
    resolutions[index].module = std::move(*module);
    return success();
  }
  for (auto [i, way] : llvm::enumerate(ways)) {
    // The last was planned with the others, unless it leaves in place what they move.
    bool isPlanned = i + 1 == ways.size() && !isInPlace(way) && !isBudgeted;
    size_t own = i > 0 ? resolutions.size() : index;
    if (i > 0)
      resolutions.push_back({resolutions[index].text, {{}, whole.stages}, {}, {}});
    resolutions[own].resolved.targets = std::move(way);
    if (isPlanned)
      resolutions[own].module = std::move(*module);
    else if (failed(planApart(description, resolutions, own, options, context)))
      return failure(); // chips may be apart for more than one reason
  }
  return success();
}

/// P40: the first rule that speaks of targets none of which is generated for.
static std::optional<std::string> findUnusedTarget(const description::Description &description,
                                                   ArrayRef<std::string> targets) {
  const std::vector<std::string> stages =
      description.stages.empty() ? std::vector<std::string>{""} : description.stages;
  for (const description::Rule &rule : description.rules)
    if (!rule.if_any && llvm::none_of(targets, [&](const std::string &target) {
          return llvm::any_of(stages, [&](const std::string &stage) {
            return mayMatch(rule, {target, stage});
          });
        }))
      return "the rule '" + description::rule_text(rule) +
             "' matches none of the targets that are generated for, " + llvm::join(targets, ", ") +
             ": add such a target or remove the rule (P40)";
  return std::nullopt;
}

/// The first size that is assumed of a symbol that the model does not have.
static std::optional<std::string> findUnknownSymbol(const description::Description &description,
                                                    const AssumedSizes &assumed) {
  std::set<std::string> symbols;
  for (const description::Node &node : description.nodes)
    for (const description::Dimension &dim : node.shape)
      if (!dim.symbol.empty())
        symbols.insert(dim.symbol);
  for (const auto &entry : assumed)
    if (!symbols.count(entry.getKey().str()))
      return "a size is assumed of '" + entry.getKey().str() + "', which is no symbol of model '" +
             description.name +
             "': " + (symbols.empty() ? "it has none" : "it has " + llvm::join(symbols, ", "));
  return std::nullopt;
}

/// What decodes has a name of its own, so that a program may hold both.
static description::Description decodingOf(description::Description description) {
  constexpr StringRef kSuffix = "_decode";
  if (!StringRef(description.name).ends_with(kSuffix))
    description.name += kSuffix;
  return description;
}

FailureOr<Artifact> compile(const description::Description &stated, ArrayRef<std::string> targets,
                            const PipelineOptions &options, MLIRContext *context,
                            const AheadOfTime &ahead) {
  const description::Description description = options.decode ? decodingOf(stated) : stated;
  AssumedSizes assumed;
  std::optional<std::string> fault = findBadName(description);
  if (!fault)
    fault = findUnusedTarget(description, targets);
  if (!fault)
    fault = readAssumedSizes(options.assumed, assumed);
  if (!fault)
    fault = findBadArchitecture(ahead, targets);
  if (!fault)
    fault = findUnknownSymbol(description, assumed);
  if (fault)
    return emitError(UnknownLoc::get(context)) << *fault;
  const CpuCode cpuCode(options);
  std::vector<Resolution> resolutions;
  CudaTexts texts;
  for (const std::vector<std::string> &stages : groupStages(description, targets)) {
    std::vector<Resolution> ofStages = resolve(description, targets, stages);
    for (size_t i = 0, ways = ofStages.size(); i < ways; ++i)
      if (failed(planApart(description, ofStages, i, options, context)))
        return failure();
    llvm::move(ofStages, std::back_inserter(resolutions));
  }
  for (Resolution &resolution : resolutions) {
    resolution.planned = buildManifest(*resolution.module, description, resolution.resolved,
                                       cpuCode.variants, assumed);
    if (failed(describeCuda(resolution.planned, texts)))
      return failure();
  }
  std::vector<KernelOp> cpuKernels = gatherCpuKernels(resolutions);
  Artifact artifact;
  artifact.texts = texts.take();
  std::string notCompiled;
  auto images = compileAhead(artifact.texts, ahead, notCompiled);
  if (failed(images))
    return emitError(UnknownLoc::get(context)) << notCompiled;
  artifact.ahead = std::move(*images);
  for (Resolution &resolution : resolutions) {
    resolution.planned.manifest.text_count = static_cast<int32_t>(artifact.texts.size());
    artifact.manifests.push_back(resolution.planned.manifest);
  }
  if (failed(emitCpuObject(cpuKernels, artifact, cpuCode, context)))
    return failure();
  artifact.header = buildApiHeader(artifact.manifests.front(), artifact.identity);
  return artifact;
}

} // namespace halftone::ir

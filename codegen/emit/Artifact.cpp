// SPDX-License-Identifier: Apache-2.0
// From a Description to everything that halftonec writes.
#include "codegen/emit/Artifact.h"

#include "codegen/emit/ApiHeader.h"
#include "codegen/emit/ManifestBuilder.h"
#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/emit/cpu/Objects.h"
#include "codegen/import/FromDescription.h"
#include "codegen/import/Names.h"
#include "codegen/ir/Rules.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "halftone/manifest/texts.hpp"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;

namespace halftone::ir {

namespace {

/// The targets that rules resolve for in one way.
struct Resolution {
  std::string text;
  std::vector<std::string> targets;
  OwningOpRef<ModuleOp> module;
  ManifestAndKernels planned;
};

/// What CPU code is made for.
struct CpuCode {
  explicit CpuCode(const PipelineOptions &options) : architecture(options.cpuArchitecture) {
    if (architecture.empty())
      architecture = cpu::hostArchitecture();
    llvm::copy_if(cpu::cpuVariants(architecture), std::back_inserter(variants), [&](auto &variant) {
      return options.variants.empty() || llvm::is_contained(options.variants, variant.name);
    });
  }

  std::string architecture;
  std::vector<cpu::CpuVariant> variants; ///< best first
};

/// Code for the first of `manifests`, and all that the object carries beside it: the artifact's
/// object and identity.
LogicalResult emitCpuObject(const ManifestAndKernels &planned, Artifact &artifact,
                            const CpuCode &cpuCode, MLIRContext *context) {
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> code = ModuleOp::create(builder, builder.getUnknownLoc());
  cpu::ObjectParts parts;
  parts.architecture = cpuCode.architecture;
  for (const cpu::CpuVariant &variant : cpuCode.variants) {
    std::vector<std::string> entries, finishes;
    for (KernelOp kernel : planned.kernels) {
      if (failed(cpu::buildCpuKernel(kernel, variant, planned.manifest.symbols, *code)))
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
  parts.modelName = planned.manifest.model;
  artifact.identity = cpu::identityOf(parts);
  FailureOr<SmallVector<char>> object = cpu::emitObject(*code, parts);
  if (succeeded(object))
    artifact.object = std::move(*object);
  return object;
}

} // namespace

/// The description through the whole pipeline, for targets that rules do not tell apart.
static FailureOr<OwningOpRef<ModuleOp>> plan(const description::Description &description,
                                             ArrayRef<std::string> targets, PipelineOptions options,
                                             MLIRContext *context) {
  description::Description imported = description;
  if (options.decode)
    imported.losses.clear(); // and with them training
  OwningOpRef<ModuleOp> module = importDescription(imported, targets.front(), context);
  options.chips.clear();
  llvm::copy_if(targets, std::back_inserter(options.chips),
                [](const std::string &target) { return target != "cpu"; });
  PassManager manager(context);
  manager.enableVerifier(true);
  buildPipeline(manager, options);
  if (failed(manager.run(*module)))
    return failure();
  return module;
}

/// The CPU's resolution first; every target in one.
static std::vector<Resolution> resolve(const description::Description &description,
                                       ArrayRef<std::string> targets) {
  std::vector<Resolution> resolutions;
  auto add = [&](const std::string &target) {
    std::string text = resolutionOf(description.rules, target);
    auto same = llvm::find_if(resolutions, [&](auto &other) { return other.text == text; });
    if (same == resolutions.end()) {
      resolutions.emplace_back().text = std::move(text);
      same = std::prev(resolutions.end());
    }
    if (!llvm::is_contained(same->targets, target))
      same->targets.push_back(target);
  };
  add("cpu");
  llvm::for_each(targets, add);
  return resolutions;
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
  auto module = plan(description, resolutions[index].targets, options, context);
  if (failed(module))
    return failure();
  std::vector<std::vector<std::string>> ways = waysOf(**module, resolutions[index].targets);
  auto inPlace = (**module)->getAttrOfType<ArrayAttr>(kChipsInPlaceAttr);
  auto isInPlace = [&](const std::vector<std::string> &way) {
    return inPlace &&
           llvm::is_contained(inPlace.getAsValueRange<StringAttr>(), StringRef(way.front()));
  };
  if (options.alike || ways.size() == 1) {
    resolutions[index].module = std::move(*module);
    return success();
  }
  for (auto [i, way] : llvm::enumerate(ways)) {
    // The last was planned with the others, unless it leaves in place what they move.
    bool isPlanned = i + 1 == ways.size() && !isInPlace(way);
    auto planned = isPlanned ? std::move(module) : plan(description, way, options, context);
    if (failed(planned))
      return failure();
    if (i > 0)
      resolutions.push_back({resolutions[index].text, {}, {}, {}});
    Resolution &resolution = i > 0 ? resolutions.back() : resolutions[index];
    resolution.targets = std::move(way);
    resolution.module = std::move(*planned);
  }
  return success();
}

/// P40: the first rule that speaks of targets none of which is generated for.
static std::optional<std::string> findUnusedTarget(const description::Description &description,
                                                   ArrayRef<std::string> targets) {
  for (const description::Rule &rule : description.rules)
    if (!rule.if_any &&
        llvm::none_of(targets, [&](const std::string &target) { return mayMatch(rule, target); }))
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
  for (auto find : {findBadName, findBadSize})
    if (std::optional<std::string> fault = find(description))
      return emitError(UnknownLoc::get(context)) << *fault;
  if (std::optional<std::string> fault = findUnusedTarget(description, targets))
    return emitError(UnknownLoc::get(context)) << *fault;
  AssumedSizes assumed;
  std::optional<std::string> fault = readAssumedSizes(options.assumed, assumed);
  if (!fault)
    fault = findBadArchitecture(ahead, targets);
  if (!fault)
    fault = findUnknownSymbol(description, assumed);
  if (fault)
    return emitError(UnknownLoc::get(context)) << *fault;
  const CpuCode cpuCode(options);
  std::vector<Resolution> resolutions = resolve(description, targets);
  CudaTexts texts;
  for (size_t i = 0, ways = resolutions.size(); i < ways; ++i)
    if (failed(planApart(description, resolutions, i, options, context)))
      return failure();
  for (Resolution &resolution : resolutions) {
    resolution.planned = buildManifest(*resolution.module, description, resolution.targets,
                                       cpuCode.variants, assumed);
    if (failed(describeCuda(resolution.planned, texts)))
      return failure();
  }
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
  if (failed(emitCpuObject(resolutions.front().planned, artifact, cpuCode, context)))
    return failure();
  artifact.header = buildApiHeader(artifact.manifests.front(), artifact.identity);
  return artifact;
}

} // namespace halftone::ir

// SPDX-License-Identifier: Apache-2.0
// From a Description to everything that halftonec writes.
#include "codegen/emit/Artifact.h"

#include "codegen/emit/ApiHeader.h"
#include "codegen/emit/ManifestBuilder.h"
#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/emit/cpu/Objects.h"
#include "codegen/emit/cuda/KernelText.h"
#include "codegen/import/FromDescription.h"
#include "codegen/import/Names.h"
#include "codegen/ir/Rules.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Compression.h"

using namespace mlir;

namespace halftone::ir {

namespace {

/// Every text behind its name and length, compressed: `name '\n' length '\n' text`, one after
/// another.
SmallVector<char> packKernelText(ArrayRef<CudaKernel> kernels) {
  std::string all;
  for (const CudaKernel &kernel : kernels)
    all += kernel.name + "\n" + std::to_string(kernel.text.size()) + "\n" + kernel.text;
  SmallVector<uint8_t> packed;
  llvm::compression::zstd::compress(llvm::arrayRefFromStringRef(all), packed);
  return SmallVector<char>(packed.begin(), packed.end());
}

FailureOr<SmallVector<char>> emitCpuObject(const ManifestAndKernels &planned,
                                           ArrayRef<CudaKernel> texts, MLIRContext *context) {
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> code = ModuleOp::create(builder, builder.getUnknownLoc());
  cpu::ObjectParts parts;
  for (const cpu::CpuVariant &variant : cpu::cpuVariants()) {
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
  std::vector<std::byte> manifest = manifest::encode(planned.manifest);
  SmallVector<char> kernelText = packKernelText(texts);
  parts.manifest = ArrayRef(reinterpret_cast<const char *>(manifest.data()), manifest.size());
  parts.kernelText = kernelText;
  parts.modelName = planned.manifest.model;
  return cpu::emitObject(*code, parts);
}

} // namespace

static FailureOr<OwningOpRef<ModuleOp>> plan(const description::Description &description,
                                             StringRef target, const PipelineOptions &options,
                                             MLIRContext *context) {
  OwningOpRef<ModuleOp> module = importDescription(description, target, context);
  PassManager manager(context);
  manager.enableVerifier(true);
  buildPipeline(manager, options);
  if (failed(manager.run(*module)))
    return failure();
  return module;
}

/// CUDA texts for every way in which rules tell the chips apart; a text that several of them share
/// is kept once.
static LogicalResult emitCudaTexts(const description::Description &description,
                                   ArrayRef<std::string> targets, const PipelineOptions &options,
                                   Artifact &artifact, MLIRContext *context) {
  std::vector<std::string> resolutions;
  llvm::StringSet<> texts;
  for (const std::string &target : targets) {
    std::string resolution = resolutionOf(description.rules, target);
    if (target == "cpu" || llvm::is_contained(resolutions, resolution))
      continue;
    bool first = resolutions.empty();
    resolutions.push_back(resolution);
    auto module = plan(description, target, options, context);
    if (failed(module))
      return failure();
    ManifestAndKernels planned = buildManifest(**module, description);
    for (KernelOp kernel : planned.kernels) {
      FailureOr<std::string> text = emitCudaText(
          kernel, description.name, planned.manifest.halftone_version, planned.manifest.symbols);
      if (failed(text))
        return failure();
      if (texts.insert(*text).second)
        artifact.kernels.push_back(
            {(first ? "" : target + "/") + kernel.getName().str(), std::move(*text)});
    }
  }
  return success();
}

/// P40: the first rule that speaks of targets none of which is generated for.
static std::optional<std::string> findUnusedTarget(const description::Description &description,
                                                   ArrayRef<std::string> targets) {
  for (const description::Rule &rule : description.rules)
    if (llvm::none_of(targets, [&](const std::string &target) { return mayMatch(rule, target); }))
      return "the rule '" + description::rule_text(rule) +
             "' matches none of the targets that are generated for, " + llvm::join(targets, ", ") +
             ": add such a target or remove the rule (P40)";
  return std::nullopt;
}

FailureOr<Artifact> compile(const description::Description &description,
                            ArrayRef<std::string> targets, const PipelineOptions &options,
                            MLIRContext *context) {
  for (auto find : {findBadName, findBadSize})
    if (std::optional<std::string> fault = find(description))
      return emitError(UnknownLoc::get(context)) << *fault;
  if (std::optional<std::string> fault = findUnusedTarget(description, targets))
    return emitError(UnknownLoc::get(context)) << *fault;
  auto module = plan(description, "cpu", options, context);
  if (failed(module))
    return failure();
  ManifestAndKernels planned = buildManifest(**module, description);
  Artifact artifact;
  if (failed(emitCudaTexts(description, targets, options, artifact, context)))
    return failure();
  FailureOr<SmallVector<char>> object = emitCpuObject(planned, artifact.kernels, context);
  if (failed(object))
    return failure();
  artifact.object = std::move(*object);
  artifact.header = buildApiHeader(planned.manifest);
  artifact.manifest = std::move(planned.manifest);
  return artifact;
}

} // namespace halftone::ir

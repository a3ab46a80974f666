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
#include "codegen/passes/Passes.h"
#include "mlir/Pass/PassManager.h"
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

/// Emission exists in f32 only.
static LogicalResult checkFormats(const description::Description &description,
                                  MLIRContext *context) {
  using Format = description::Format;
  auto refuse = [&](const std::string &who, Format format) {
    constexpr const char *kNames[] = {"f32", "tf32", "f16", "bf16", "i32"};
    return emitError(UnknownLoc::get(context))
           << who << " asks for " << kNames[static_cast<int>(format)]
           << ", but kernels are emitted in f32 only: write f32";
  };
  for (const description::Rule &rule : description.rules)
    for (std::optional<Format> format : {rule.store, rule.compute, rule.accumulate, rule.master})
      if (format && *format != Format::f32)
        return refuse("the precision rule for '" + rule.layer + "'", *format);
  for (const description::Node &node : description.nodes)
    if (node.format != Format::f32 && node.format != Format::i32)
      return refuse("input '" + node.name + "'", node.format);
  return success();
}

FailureOr<Artifact> compile(const description::Description &description, bool cuda,
                            MLIRContext *context) {
  for (auto find : {findBadName, findBadSize})
    if (std::optional<std::string> fault = find(description))
      return emitError(UnknownLoc::get(context)) << *fault;
  if (failed(checkFormats(description, context)))
    return failure();
  OwningOpRef<ModuleOp> module = importDescription(description, context);
  PassManager manager(context);
  manager.enableVerifier(true);
  buildPipeline(manager);
  if (failed(manager.run(*module)))
    return failure();
  FailureOr<ManifestAndKernels> planned = buildManifest(*module, description);
  if (failed(planned))
    return failure();
  Artifact artifact;
  for (KernelOp kernel : cuda ? ArrayRef(planned->kernels) : ArrayRef<KernelOp>()) {
    FailureOr<std::string> text = emitCudaText(
        kernel, description.name, planned->manifest.halftone_version, planned->manifest.symbols);
    if (failed(text))
      return failure();
    artifact.kernels.push_back({kernel.getName().str(), std::move(*text)});
  }
  FailureOr<SmallVector<char>> object = emitCpuObject(*planned, artifact.kernels, context);
  if (failed(object))
    return failure();
  artifact.object = std::move(*object);
  artifact.header = buildApiHeader(planned->manifest);
  artifact.manifest = std::move(planned->manifest);
  return artifact;
}

} // namespace halftone::ir

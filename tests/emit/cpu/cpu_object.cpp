// SPDX-License-Identifier: Apache-2.0
// cpu_object --verify FILE.mlir: whether every kernel, split by "// -----", fails as its
// expected-error says. cpu_object FILE.mlir.in OBJECT: one object with every kernel of the file. A
// module whose head has lines "// N: 1 7" and "// K: 64" is emitted for each of their combinations,
// with $N and $K replaced; F and G do the same for formats. Kernels without a
// cpu_tile get the default one, unless they carry the attribute `untiled`. The model is called
// emit_cpu and has the symbol batch.
#include "codegen/emit/TaskAxes.h"
#include "codegen/emit/cpu/Code.h"
#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/emit/cpu/Objects.h"
#include "codegen/skeletons/Skeletons.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/ToolUtilities.h"

using namespace mlir;
using namespace halftone;

namespace {

const std::vector<std::string> kSymbols{"batch"};

void tile(ModuleOp module) {
  module.walk([](ir::KernelOp kernel) {
    if (!kernel.getCpuTile() && !kernel->hasAttr("untiled"))
      kernel.setCpuTile(skeletons::of(kernel).getDefaultCpuTile(kernel));
  });
}

/// The module's text for every combination of the words in its head.
std::vector<std::string> instances(StringRef text) {
  std::vector<std::string> all{text.str()};
  for (StringRef letter : {"N", "K", "F", "G"}) {
    size_t at = text.find(("// " + letter + ": ").str());
    if (at == StringRef::npos) continue;
    SmallVector<StringRef> words;
    text.substr(at + 6).take_until([](char c) { return c == '\n'; }).split(words, ' ');
    std::vector<std::string> next;
    for (const std::string& instance : all)
      for (StringRef word : words) {
        std::string copy = instance, placeholder = ("$" + letter).str();
        for (size_t place; (place = copy.find(placeholder)) != std::string::npos;)
          copy.replace(place, placeholder.size(), word.str());
        next.push_back(copy);
      }
    all = std::move(next);
  }
  return all;
}

FailureOr<SmallVector<char>> emit(StringRef file, MLIRContext& context) {
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<ir::KernelOp> kernels;
  SmallVector<StringRef> sections;
  file.split(sections, "// -----\n");
  for (StringRef section : sections)
    for (const std::string& text : instances(section)) {
      modules.push_back(parseSourceString<ModuleOp>(text, ParserConfig(&context)));
      if (!modules.back()) return failure();
      tile(*modules.back());
      modules.back()->walk([&](ir::KernelOp kernel) { kernels.push_back(kernel); });
    }
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&context));
  cpu::ObjectParts parts;
  manifest::Manifest manifest;
  manifest.model = parts.modelName = "emit_cpu";
  manifest.symbols = kSymbols;
  manifest.targets = {"cpu"};
  manifest.assumed = {1};
  parts.architecture = cpu::hostArchitecture();
  const ArrayRef<cpu::CpuVariant> variants = cpu::cpuVariants(parts.architecture);
  for (const cpu::CpuVariant& variant : variants) {
    manifest.variants.push_back(variant.name.str());
    std::vector<std::string> entries;
    manifest.kernels.clear();
    for (ir::KernelOp kernel : kernels) {
      if (failed(cpu::buildCpuKernel(kernel, variant, kSymbols, *code))) return failure();
      manifest::Kernel listed;
      listed.name = kernel.getName().str();
      listed.skeleton = skeletons::of(kernel).name().str();
      listed.tasks = ir::taskAxesOf(skeletons::of(kernel).getTaskAxes(kernel), kSymbols);
      listed.blocking = ir::blockingOf(kernel, kSymbols, variants);
      listed.cpu_entry = static_cast<int32_t>(entries.size());
      entries.push_back(cpu::entryName(kernel, variant));
      if (kernel.hasFinish()) {
        listed.cpu_finish = static_cast<int32_t>(entries.size());
        entries.push_back(cpu::finishName(kernel, variant));
      }
      manifest.kernels.push_back(listed);
    }
    parts.entries.push_back(entries);
  }
  if (failed(verify(*code))) return failure();
  std::vector<std::byte> bytes = manifest::encode(manifest);
  StringRef texts = "kernel text";
  parts.manifests = {std::move(bytes)};
  parts.texts = ArrayRef(reinterpret_cast<const std::byte*>(texts.data()), texts.size());
  return cpu::emitObject(*code, parts);
}

LogicalResult verifyDiagnostics(std::unique_ptr<llvm::MemoryBuffer> buffer, MLIRContext& context) {
  return splitAndProcessBuffer(
      std::move(buffer),
      [&](std::unique_ptr<llvm::MemoryBuffer> chunk, raw_ostream&) {
        llvm::SourceMgr sources;
        sources.AddNewSourceBuffer(std::move(chunk), {});
        SourceMgrDiagnosticVerifierHandler handler(sources, &context);
        OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
        OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&context));
        if (module) {
          tile(*module);
          module->walk([&](ir::KernelOp kernel) {
            (void)cpu::buildCpuKernel(kernel, cpu::cpuVariants("x86_64").front(), kSymbols, *code);
          });
        }
        return handler.verify();
      },
      llvm::nulls(), "// -----", "// -----");
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() != 2) {
    llvm::errs() << "cpu_object: wants --verify FILE.mlir, or FILE.mlir.in OBJECT\n";
    return 2;
  }
  bool verifies = words[0] == "--verify";
  auto buffer = llvm::MemoryBuffer::getFile(words[verifies ? 1 : 0]);
  if (!buffer) {
    llvm::errs() << "cpu_object: cannot read " << words[verifies ? 1 : 0] << "\n";
    return 2;
  }
  DialectRegistry registry;
  registry.insert<ir::HalftoneDialect, arith::ArithDialect, math::MathDialect>();
  cpu::registerCpuDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  if (verifies) return failed(verifyDiagnostics(std::move(*buffer), context));
  FailureOr<SmallVector<char>> object = emit((*buffer)->getBuffer(), context);
  if (failed(object)) return 1;
  std::error_code error;
  llvm::raw_fd_ostream file(words[1], error);
  file.write(object->data(), object->size());
  return static_cast<bool>(error);
}

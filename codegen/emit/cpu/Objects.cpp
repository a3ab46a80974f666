// SPDX-License-Identifier: Apache-2.0
// LLVM IR to one object file, with the image that the runtime looks for.
#include "codegen/emit/cpu/Objects.h"

#include "codegen/emit/cpu/Lowering.h"
#include "codegen/emit/cpu/Variants.h"
#include "halftone/manifest/checksum.hpp"
#include "halftone/manifest/manifest.hpp"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace halftone::cpu {

namespace {

llvm::GlobalVariable *addConstant(llvm::Module &module, llvm::Constant *value,
                                  llvm::StringRef name) {
  return new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, value, name);
}

llvm::Constant *addBytes(llvm::Module &module, llvm::ArrayRef<std::byte> bytes,
                         llvm::StringRef name) {
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  auto *data = llvm::ConstantDataArray::getString(module.getContext(), text, /*AddNull=*/false);
  auto *global = addConstant(module, data, name);
  global->setAlignment(llvm::Align(16));
  return global;
}

/// manifest::ArtifactImage, field by field.
void addImage(llvm::Module &module, const ObjectParts &parts) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto number = [&](unsigned bits, uint64_t value) -> llvm::Constant * {
    return llvm::ConstantInt::get(llvm::IntegerType::get(context, bits), value);
  };
  std::vector<llvm::Constant *> tables;
  for (const std::vector<std::string> &names : parts.entries) {
    std::vector<llvm::Constant *> functions;
    for (const std::string &name : names)
      functions.push_back(module.getFunction(name));
    auto *table =
        llvm::ConstantArray::get(llvm::ArrayType::get(pointer, functions.size()), functions);
    tables.push_back(addConstant(module, table, "halftone_entries"));
  }
  std::vector<llvm::Constant *> images;
  for (llvm::ArrayRef<std::byte> manifest : parts.manifests)
    images.push_back(llvm::ConstantStruct::getAnon(
        {addBytes(module, manifest, "halftone_manifest"), number(64, manifest.size())}));
  auto *manifests = llvm::ConstantArray::get(
      llvm::ArrayType::get(images.front()->getType(), images.size()), images);
  auto *variants = llvm::ConstantArray::get(llvm::ArrayType::get(pointer, tables.size()), tables);
  std::vector<llvm::Constant *> fields{
      llvm::ConstantDataArray::getString(context, "HALFTONE", /*AddNull=*/false),
      number(32, manifest::kVersion),
      number(32, parts.entries.size()),
      addConstant(module, manifests, "halftone_manifests"),
      number(64, images.size()),
      addConstant(module, variants, "halftone_variants"),
      number(64, parts.entries.front().size()),
      addBytes(module, parts.texts, "halftone_texts"),
      number(64, parts.texts.size())};
  llvm::Constant *image = llvm::ConstantStruct::getAnon(fields);
  std::string symbol = "halftone_artifact_" + parts.modelName;
  auto *global = new llvm::GlobalVariable(module, image->getType(), true,
                                          llvm::GlobalValue::ExternalLinkage, image, symbol);
  llvm::GlobalAlias::create(image->getType(), 0, llvm::GlobalValue::ExternalLinkage,
                            symbol + "_" + identityOf(parts), global, &module);
  llvm::GlobalAlias::create(image->getType(), 0, llvm::GlobalValue::WeakAnyLinkage,
                            "halftone_artifact", global, &module);
}

/// For this machine's system, on any architecture.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const ObjectParts &parts,
                                                         std::string &error) {
  llvm::StringRef architecture = parts.architecture;
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  if (architecture != hostArchitecture())
    triple.setArchName(architecture);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // every operation keeps its own rounding
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpuVariants(architecture).back().cpu, "", options, llvm::Reloc::PIC_, std::nullopt,
      parts.optimize ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None));
}

/// The loop nests come in vectors, tiled and unrolled. What LLVM's own pipelines do to them beyond
/// this makes no step shorter, but more code, and takes most of halftonec's time.
constexpr llvm::StringLiteral kPasses =
    "function(early-cse<memssa>,loop-mssa(licm),instcombine<no-verify-fixpoint>,simplifycfg)";

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kPasses));
  passes.run(module, modules);
}

} // namespace

std::string identityOf(const ObjectParts &parts) {
  std::vector<std::byte> all;
  for (const std::vector<std::byte> &manifest : parts.manifests)
    llvm::append_range(all, manifest);
  llvm::append_range(all, parts.texts);
  constexpr unsigned kDigits = 16;
  return llvm::utohexstr(manifest::hash_of(all), /*LowerCase=*/true, kDigits);
}

mlir::FailureOr<llvm::SmallVector<char>> emitObject(mlir::ModuleOp module,
                                                    const ObjectParts &parts) {
  if (parts.entries.empty())
    return module.emitError() << "no CPU code is made for " << parts.architecture
                              << ": choose an architecture with --cpu-architecture";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = lowerToLlvm(module, context);
  if (!code)
    return mlir::failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(parts, error);
  if (!machine)
    return module.emitError() << "this LLVM makes no code for " << parts.architecture << ": "
                              << error;
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *code)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  addImage(*code, parts);
  if (parts.optimize)
    optimize(*code, *machine);
  llvm::SmallVector<char> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("this LLVM cannot write object files");
  emission.run(*code);
  return object;
}

} // namespace halftone::cpu

// SPDX-License-Identifier: Apache-2.0
// halftonec: a Description's text in, an artifact out. Run at build time by halftone_add_model.
#include <variant>

#include "codegen/emit/Artifact.h"
#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/import/FromDescription.h"
#include "codegen/passes/Passes.h"
#include "halftone/description/text.hpp"
#include "halftone/description/validate.hpp"
#include "halftone/manifest/seal.hpp"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

namespace hd = halftone::description;
namespace hm = halftone::manifest;

namespace {

llvm::cl::OptionCategory category("halftonec options");
llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                 llvm::cl::desc("MODEL.halftone, or - for standard input"),
                                 llvm::cl::cat(category));
llvm::cl::opt<std::string> objectPath("object",
                                      llvm::cl::desc("Write the artifact's relocatable object"),
                                      llvm::cl::value_desc("file"), llvm::cl::cat(category));
llvm::cl::opt<std::string>
    rulesPath("rules", llvm::cl::desc("Use the rules of this file instead of the model's own"),
              llvm::cl::value_desc("file"), llvm::cl::cat(category));
llvm::cl::opt<bool> unfused("unfused",
                            llvm::cl::desc("Make every operation a kernel of its own, for tests"),
                            llvm::cl::cat(category));
llvm::cl::opt<bool>
    withoutDiagnosis("without-diagnosis",
                     llvm::cl::desc("Leave out the program that finds the first value that is not "
                                    "finite"),
                     llvm::cl::cat(category));
llvm::cl::opt<std::string> headerPath("header", llvm::cl::desc("Write the model's typed C++ API"),
                                      llvm::cl::value_desc("file"), llvm::cl::cat(category));
llvm::cl::opt<std::string> cudaFolder("cuda-text",
                                      llvm::cl::desc("Write every kernel's CUDA text as KERNEL.cu"),
                                      llvm::cl::value_desc("folder"), llvm::cl::cat(category));
llvm::cl::list<std::string>
    targets("targets", llvm::cl::CommaSeparated,
            llvm::cl::desc("Chips the artifact is for: cpu, sm_80, sm_90a, ... (default: all)"),
            llvm::cl::cat(category));
llvm::cl::opt<bool> summary("summary", llvm::cl::desc("Print the kernels of every phase"),
                            llvm::cl::cat(category));
enum class Stage { none, imported, planned };
llvm::cl::opt<Stage>
    printIr("print-ir", llvm::cl::desc("Print the IR and stop"), llvm::cl::init(Stage::none),
            llvm::cl::values(clEnumValN(Stage::imported, "imported", "as imported"),
                             clEnumValN(Stage::planned, "planned", "after the last pass")),
            llvm::cl::cat(category));
llvm::cl::opt<std::string>
    sealPath("seal", llvm::cl::desc("Seal an artifact that was linked as a shared object"),
             llvm::cl::value_desc("file"), llvm::cl::cat(category));

int fail(const llvm::Twine &message) {
  llvm::errs() << "halftonec: " << message << "\n";
  return 1;
}

/// Leaves a file with equal content as it is, so that nothing that depends on it is built again.
bool writeIfChanged(llvm::StringRef path, llvm::StringRef content) {
  if (auto old = llvm::MemoryBuffer::getFile(path); old && (*old)->getBuffer() == content)
    return true;
  if (llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
        stream << content;
        return llvm::Error::success();
      })) {
    fail("cannot write '" + path + "': " + llvm::toString(std::move(error)));
    return false;
  }
  return true;
}

/// The chips of NVRTC 13.0 that kernels are written for; the CUDA text is the same for all of them
/// that no rule tells apart.
constexpr const char *kTargets[] = {"cpu",    "sm_75",   "sm_80",   "sm_86",   "sm_87",  "sm_89",
                                    "sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"};

halftone::ir::PipelineOptions pipelineOptions() {
  return {.fuse = !unfused, .diagnosis = !withoutDiagnosis};
}

/// The rules of a file, one statement a line as in a description, instead of the model's own.
bool replaceRules(hd::Description &description) {
  auto file = llvm::MemoryBuffer::getFile(rulesPath);
  if (!file) {
    fail("cannot read '" + rulesPath + "': " + file.getError().message());
    return false;
  }
  description.rules.clear();
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    llvm::StringRef statement = line.trim();
    if (statement.empty() || statement.starts_with("#"))
      continue;
    auto complain = [&](const std::string &message) {
      llvm::errs() << rulesPath << ":" << number + 1 << ": " << message << "\n";
      return false;
    };
    if (!statement.consume_front("rule "))
      return complain("expected a statement 'rule ...'");
    auto parsed = hd::parse_rule(statement);
    if (auto *error = std::get_if<hd::ParseError>(&parsed))
      return complain(error->message);
    description.rules.push_back(std::move(std::get<hd::Rule>(parsed)));
    if (auto violation = hd::validate(description))
      return complain(violation->message);
  }
  return true;
}

bool checkTargets() {
  for (const std::string &target : targets)
    if (llvm::none_of(kTargets, [&](const char *known) { return target == known; })) {
      fail("'" + target + "' is no target: write " +
           llvm::join(std::begin(kTargets), std::end(kTargets), ", "));
      return false;
    }
  return true;
}

void printSummary(const hm::Manifest &manifest) {
  constexpr const char *kNames[] = {"forward", "loss",   "loss_backward", "backward", "accumulate",
                                    "check",   "update", "refresh",       "external"};
  for (const hm::Program &program : manifest.programs)
    for (size_t phase = 0; phase < hm::kPhases; ++phase)
      for (const hm::Launch &launch : program.phases[phase]) {
        const hm::Kernel &kernel = manifest.kernels[launch.kernel];
        llvm::outs() << program.name << " " << kNames[phase] << ": " << kernel.name << " ("
                     << kernel.skeleton << "): " << launch.fused << "\n";
      }
}

int writeArtifact(const halftone::ir::Artifact &artifact) {
  if (!objectPath.empty() &&
      !writeIfChanged(objectPath, llvm::StringRef(artifact.object.data(), artifact.object.size())))
    return 1;
  if (!headerPath.empty() && !writeIfChanged(headerPath, artifact.header))
    return 1;
  if (!cudaFolder.empty()) {
    for (const halftone::ir::CudaKernel &kernel : artifact.kernels) {
      llvm::SmallString<128> path(cudaFolder);
      llvm::sys::path::append(path, kernel.name + ".cu"); // a name may start with a chip's folder
      llvm::StringRef folder = llvm::sys::path::parent_path(path);
      if (std::error_code error = llvm::sys::fs::create_directories(folder))
        return fail("cannot make folder '" + folder + "': " + error.message());
      if (!writeIfChanged(path, kernel.text))
        return 1;
    }
  }
  if (summary)
    printSummary(artifact.manifest);
  return 0;
}

int printStage(const hd::Description &description, mlir::MLIRContext &context) {
  mlir::OwningOpRef<mlir::ModuleOp> module = halftone::ir::importDescription(
      description, targets.empty() ? llvm::StringRef("cpu") : llvm::StringRef(targets.front()),
      &context);
  if (printIr == Stage::planned) {
    mlir::PassManager manager(&context);
    halftone::ir::buildPipeline(manager, pipelineOptions());
    if (failed(manager.run(*module)))
      return 1;
  }
  module->print(llvm::outs());
  return 0;
}

int run() {
  if (!sealPath.empty()) {
    std::string error;
    return hm::seal_file(sealPath, error) ? 0 : fail(error);
  }
  if (input.empty())
    return fail("no model given: name a .halftone file");
  if (!checkTargets())
    return 1;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!file)
    return fail("cannot read '" + input + "': " + file.getError().message());
  llvm::StringRef text = (*file)->getBuffer();
  auto parsed = hd::parse(std::string_view(text.data(), text.size()));
  if (auto *error = std::get_if<hd::ParseError>(&parsed)) {
    llvm::errs() << error->str(input) << "\n";
    return 1;
  }
  hd::Description &description = std::get<hd::Description>(parsed);
  if (!rulesPath.empty() && !replaceRules(description))
    return 1;
  mlir::DialectRegistry registry;
  halftone::cpu::registerCpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (printIr != Stage::none)
    return printStage(description, context);
  std::vector<std::string> all(targets.begin(), targets.end());
  if (all.empty())
    all.assign(std::begin(kTargets), std::end(kTargets));
  auto artifact = halftone::ir::compile(description, all, pipelineOptions(), &context);
  if (failed(artifact))
    return fail("model '" + description.name + "' was not compiled");
  return writeArtifact(*artifact);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compiles a Halftone model into an artifact\n");
  return run();
}

// SPDX-License-Identifier: Apache-2.0
// halftonec: a Description's text in, an artifact out. Run at build time by halftone_add_model.
#include <csignal>
#include <memory>
#include <optional>
#include <variant>

#include "codegen/audit/Audit.h"
#include "codegen/emit/Artifact.h"
#include "codegen/emit/WriteFile.h"
#include "codegen/emit/cpu/Code.h"
#include "codegen/emit/cpu/Variants.h"
#include "codegen/import/FromDescription.h"
#include "codegen/passes/Passes.h"
#include "codegen/plan/Chips.h"
#include "halftone/description/text.hpp"
#include "halftone/manifest/seal.hpp"
#include "halftone/manifest/spelling.hpp"
#include "halftone/manifest/version.hpp"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
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
llvm::cl::opt<bool> alike("alike",
                          llvm::cl::desc("Plan the CPU's program as that of chips, launch by "
                                         "launch, for tests"),
                          llvm::cl::cat(category));
llvm::cl::opt<int64_t>
    updatePart("update-part",
               llvm::cl::desc("The most elements of an update with states in the host's memory, a "
                              "multiple of 64, and of 1024 with clip groups, for tests"),
               llvm::cl::init(int64_t(1) << 22), llvm::cl::value_desc("number"),
               llvm::cl::cat(category));
llvm::cl::opt<int64_t>
    leastStay("least-stay",
              llvm::cl::desc("The fewest bytes of an activation that stays in the host's memory "
                             "where rules place it there, for tests"),
              llvm::cl::init(int64_t(1) << 20), llvm::cl::value_desc("number"),
              llvm::cl::cat(category));
llvm::cl::opt<bool>
    withoutDiagnosis("without-diagnosis",
                     llvm::cl::desc("Leave out the program that finds the first value that is not "
                                    "finite"),
                     llvm::cl::cat(category));
llvm::cl::opt<bool> decode("decode",
                           llvm::cl::desc("Make the program that decodes, for a Generator, in "
                                          "place of training and inference"),
                           llvm::cl::cat(category));
llvm::cl::opt<std::string> headerPath("header", llvm::cl::desc("Write the model's typed C++ API"),
                                      llvm::cl::value_desc("file"), llvm::cl::cat(category));
llvm::cl::opt<std::string>
    cudaFolder("cuda-text",
               llvm::cl::desc("Write every kernel's CUDA text as KERNEL.cu, and launches.txt"),
               llvm::cl::value_desc("folder"), llvm::cl::cat(category));
llvm::cl::list<std::string>
    targets("targets", llvm::cl::CommaSeparated,
            llvm::cl::desc("Chips the artifact is for: cpu, sm_80, sm_90a, ... (default: all)"),
            llvm::cl::cat(category));
llvm::cl::opt<std::string> cpuArchitecture(
    "cpu-architecture",
    llvm::cl::desc("Architecture that CPU code is made for: x86_64, aarch64 (default: this "
                   "machine's)"),
    llvm::cl::value_desc("name"), llvm::cl::cat(category));
llvm::cl::list<std::string> variants(
    "variants", llvm::cl::CommaSeparated,
    llvm::cl::desc("Processors of that architecture, as x86-64-v4, x86-64-v3, x86-64; aarch64 "
                   "(default: all)"),
    llvm::cl::cat(category));
llvm::cl::list<std::string>
    assume("assume", llvm::cl::CommaSeparated,
           llvm::cl::desc("Sizes of symbols that plans are chosen for: batch=64,time=8 (default: "
                          "256 each)"),
           llvm::cl::cat(category));
llvm::cl::list<std::string>
    aheadOfTime("aot", llvm::cl::CommaSeparated,
                llvm::cl::desc("Compile kernels for these while the artifact is made: sm_90a "
                               "(cubins), compute_80 (PTX). Needs NVRTC"),
                llvm::cl::cat(category));
llvm::cl::opt<std::string>
    kernelCompiler("kernel-compiler",
                   llvm::cl::desc("The program halftone (default: the one beside halftonec)"),
                   llvm::cl::value_desc("file"), llvm::cl::cat(category));
llvm::cl::opt<bool> summary("summary", llvm::cl::desc("Print the kernels of every phase"),
                            llvm::cl::cat(category));
enum class Stage { none, imported, planned };
llvm::cl::opt<Stage>
    printIr("print-ir", llvm::cl::desc("Print the IR and stop"), llvm::cl::init(Stage::none),
            llvm::cl::values(clEnumValN(Stage::imported, "imported", "as imported"),
                             clEnumValN(Stage::planned, "planned", "after the last pass")),
            llvm::cl::cat(category));
llvm::cl::opt<std::string>
    auditPath("audit",
              llvm::cl::desc("Print how large each value can be and how far from exact "
                             "arithmetic, for the ranges of this file"),
              llvm::cl::value_desc("file"), llvm::cl::cat(category));
llvm::cl::opt<bool> asJson("json", llvm::cl::desc("Print the audit as one object"),
                           llvm::cl::cat(category));
llvm::cl::opt<std::string>
    auditedStage("stage", llvm::cl::desc("Audit this stage of a run (default: the first)"),
                 llvm::cl::value_desc("name"), llvm::cl::cat(category));
llvm::cl::opt<std::string>
    sealPath("seal", llvm::cl::desc("Seal an artifact that was linked as a shared object"),
             llvm::cl::value_desc("file"), llvm::cl::cat(category));

int fail(const llvm::Twine &message) {
  llvm::errs() << "halftonec: " << message << "\n";
  return 1;
}

/// Leaves a file with equal content as it is, so that nothing that depends on it is built again.
bool writeIfChanged(llvm::StringRef path, llvm::StringRef content) {
  if (path == "/dev/null")
    return true;
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    fail("cannot write '" + path + "': it is a folder or a device; name a file");
    return false;
  }
  if (llvm::sys::fs::is_symlink_file(path) && !llvm::sys::fs::exists(path)) {
    fail("cannot write '" + path + "': it is a link that leads to no file; remove it");
    return false;
  }
  if (auto old = llvm::MemoryBuffer::getFile(path); old && (*old)->getBuffer() == content)
    return true;
  if (llvm::Error error = halftone::ir::writeFile(path, content)) {
    fail("cannot write '" + path + "': " + llvm::toString(std::move(error)) +
         "; name a file in a folder that can be written, on a disk with room");
    return false;
  }
  return true;
}

/// The CPU and all chips that kernels are planned for.
std::vector<std::string> allTargets() {
  std::vector<std::string> all{"cpu"};
  for (const halftone::ir::Chip &chip : halftone::ir::chips())
    all.push_back(chip.name.str());
  return all;
}

halftone::ir::PipelineOptions pipelineOptions() {
  return {.chips = {},
          .assumed = {assume.begin(), assume.end()},
          .cpuArchitecture = cpuArchitecture,
          .variants = {variants.begin(), variants.end()},
          .fuse = !unfused,
          .diagnosis = !withoutDiagnosis,
          .decode = decode,
          .alike = alike,
          .updatePart = updatePart,
          .leastStay = leastStay};
}

/// The rules of a file, one statement a line as in a description, instead of the model's own.
bool replaceRules(hd::Description &description) {
  auto file = llvm::MemoryBuffer::getFile(rulesPath);
  if (!file) {
    fail("cannot read '" + rulesPath + "': " + file.getError().message());
    return false;
  }
  llvm::StringRef text = (*file)->getBuffer();
  auto error = hd::replace_rules(description, std::string_view(text.data(), text.size()));
  if (error)
    llvm::errs() << error->str(rulesPath) << "\n";
  return !error;
}

/// `program`: this one's path.
halftone::ir::AheadOfTime ahead(const char *program) {
  halftone::ir::AheadOfTime ahead{{aheadOfTime.begin(), aheadOfTime.end()}, kernelCompiler};
  if (ahead.compiler.empty()) {
    std::string mine = llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void *>(&fail));
    llvm::SmallString<128> beside(llvm::sys::path::parent_path(mine));
    llvm::sys::path::append(beside, "halftone");
    ahead.compiler = beside.str().str();
  }
  return ahead;
}

/// Whether every name that was given is known; `noun`: what they name.
bool checkNames(llvm::ArrayRef<std::string> given, const std::vector<std::string> &known,
                const llvm::Twine &noun) {
  for (const std::string &name : given)
    if (!llvm::is_contained(known, name)) {
      std::string nearest = halftone::ir::nearestName(name, known);
      fail("'" + name + "' is no " + noun + ": write " +
           (nearest.empty() ? "" : nearest + ", or another of ") + llvm::join(known, ", "));
      return false;
    }
  return true;
}

bool checkTargets() {
  namespace cpu = halftone::cpu;
  std::string architecture =
      cpuArchitecture.empty() ? cpu::hostArchitecture() : cpuArchitecture.getValue();
  std::vector<std::string> known;
  for (const cpu::CpuVariant &variant : cpu::cpuVariants(architecture))
    known.push_back(variant.name.str());
  return checkNames(targets, allTargets(), "target") &&
         checkNames({architecture}, cpu::cpuArchitectures(), "architecture of CPU code") &&
         checkNames(variants, known, "variant of CPU code for " + architecture);
}

void printSummary(const hm::Manifest &manifest) {
  for (const hm::Program &program : manifest.programs)
    for (size_t phase = 0; phase < hm::kPhases; ++phase)
      for (const hm::Launch &launch : program.phases[phase]) {
        const hm::Kernel &kernel = manifest.kernels[launch.kernel];
        llvm::outs() << program.name << " "
                     << std::string(hm::spelled(static_cast<hm::Phase>(phase))) << ": "
                     << kernel.name << " (" << kernel.skeleton << "): " << launch.fused << "\n";
      }
}

/// Every text as a file, and `launches.txt`: per line a file, a chip that runs it, the entry, the
/// threads of a block and its bytes of dynamic shared memory.
bool writeCudaTexts(llvm::ArrayRef<halftone::ir::CudaText> texts) {
  std::string launches;
  llvm::SmallString<128> path;
  auto write = [&](const std::string &name, llvm::StringRef content) {
    path = cudaFolder;
    llvm::sys::path::append(path, name); // which may start with a chip's folder
    llvm::StringRef folder = llvm::sys::path::parent_path(path);
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return fail("cannot make folder '" + folder + "': " + error.message()) == 0;
    return writeIfChanged(path, content);
  };
  for (const halftone::ir::CudaText &text : texts) {
    if (!write(text.name + ".cu", text.text))
      return false;
    for (const std::string &chip : text.chips)
      launches += text.name + ".cu " + chip + " " + text.entry + " " +
                  std::to_string(text.threads) + " " + std::to_string(text.sharedBytes) + "\n";
  }
  return write("launches.txt", launches);
}

int writeArtifact(const halftone::ir::Artifact &artifact) {
  if (!objectPath.empty() &&
      !writeIfChanged(objectPath, llvm::StringRef(artifact.object.data(), artifact.object.size())))
    return 1;
  if (!headerPath.empty() && !writeIfChanged(headerPath, artifact.header))
    return 1;
  if (!cudaFolder.empty() && !writeCudaTexts(artifact.texts))
    return 1;
  if (summary)
    printSummary(artifact.manifests.front());
  return 0;
}

int printStage(hd::Description description, mlir::MLIRContext &context) {
  if (decode)
    description.losses.clear(); // as compile() does
  mlir::OwningOpRef<mlir::ModuleOp> module = halftone::ir::importDescription(
      description, targets.empty() ? llvm::StringRef("cpu") : llvm::StringRef(targets.front()),
      &context);
  if (printIr == Stage::planned) {
    mlir::PassManager manager(&context);
    halftone::ir::PipelineOptions options = pipelineOptions();
    for (const std::string &target : targets)
      if (target != "cpu")
        options.chips.push_back(target);
    halftone::ir::buildPipeline(manager, options);
    if (failed(manager.run(*module)))
      return 1;
  }
  module->print(llvm::outs());
  return 0;
}

/// Refuses options of an audit without one, and of artifacts with one.
bool checkAudit() {
  bool isAsked = auditPath.getNumOccurrences() > 0;
  for (const llvm::cl::Option *option :
       std::initializer_list<const llvm::cl::Option *>{&asJson, &auditedStage})
    if (!isAsked && option->getNumOccurrences() > 0) {
      fail("--" + option->ArgStr + (option == &asJson ? " prints" : " chooses what is in") +
           " an audit, and none is asked for; add --audit FILE, or leave it out");
      return false;
    }
  if (isAsked && (!objectPath.empty() || !headerPath.empty())) {
    fail("--audit prints and writes no artifact; leave --object and --header out");
    return false;
  }
  for (const llvm::cl::Option *option : std::initializer_list<const llvm::cl::Option *>{
           &printIr, &summary, &decode, std::addressof(aheadOfTime), &cudaFolder})
    if (isAsked && option->getNumOccurrences() > 0) {
      fail("--" + option->ArgStr +
           " is about an artifact, and --audit makes none; leave one of the "
           "two out");
      return false;
    }
  if (isAsked && targets.size() > 1) {
    fail("--audit is of one target, and --targets names " + std::to_string(targets.size()) +
         "; name one");
    return false;
  }
  return true;
}

int printAudit(const hd::Description &description, mlir::MLIRContext &context) {
  namespace audit = halftone::audit;
  if (!auditedStage.empty() && !llvm::is_contained(description.stages, auditedStage.getValue()))
    return fail("model '" + description.name + "' has no stage '" + auditedStage +
                "'; leave --stage out, or name one that it declares");
  auto file = llvm::MemoryBuffer::getFile(auditPath);
  if (!file)
    return fail("cannot read '" + auditPath + "': " + file.getError().message() +
                "; write a file with a line `NAME LOW HIGH` for each input (docs/audit.md)");
  llvm::StringRef text = (*file)->getBuffer();
  auto ranges = audit::parseRanges({text.data(), text.size()}, auditPath);
  if (auto *wrong = std::get_if<std::string>(&ranges))
    return fail(*wrong);
  audit::AuditOptions options;
  options.target = targets.empty() ? "cpu" : targets.front();
  options.stage = auditedStage;
  options.ranges = std::get<audit::Ranges>(std::move(ranges));
  options.file = auditPath;
  std::vector<std::string> sizes(assume.begin(), assume.end());
  if (auto wrong = halftone::ir::readAssumedSizes(sizes, options.sizes))
    return fail(*wrong);
  auto audited = audit::auditModel(description, options, &context);
  if (auto *wrong = std::get_if<std::string>(&audited))
    return fail(wrong->empty() ? "model '" + description.name + "' was not audited" : *wrong);
  const auto &found = std::get<audit::Audit>(audited);
  llvm::outs() << (asJson ? audit::jsonOf(found) : audit::textOf(found));
  return 0;
}

/// One file that is to be read or written as two; nothing when all differ. /dev/null takes any
/// number of results, and the - that is read is not the - that is written.
std::optional<std::string> sharedPath() {
  const std::string *paths[] = {&input.getValue(), &rulesPath.getValue(), &objectPath.getValue(),
                                &headerPath.getValue()};
  constexpr size_t kFirstWritten = 2;
  for (size_t b = kFirstWritten; b < std::size(paths); ++b)
    for (size_t a = *paths[b] == "-" ? kFirstWritten : 0; a < b; ++a)
      if (!paths[b]->empty() && *paths[b] != "/dev/null" &&
          (*paths[a] == *paths[b] || llvm::sys::fs::equivalent(*paths[a], *paths[b])))
        return *paths[b];
  return std::nullopt;
}

/// Refuses an option whose value is empty, as an unset variable leaves it.
bool checkValues() {
  for (const auto *option : {&sealPath, &rulesPath, &objectPath, &headerPath, &cudaFolder,
                             &kernelCompiler, &cpuArchitecture, &auditPath, &auditedStage})
    if (option->getNumOccurrences() > 0 && option->empty()) {
      fail("--" + option->ArgStr + " names no " + option->ValueStr + "; give one, or leave it out");
      return false;
    }
  return true;
}

/// Output that is lost is an error.
int checkOutput(int status) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return status;
  llvm::outs().clear_error(); // an error that is left would end the process
  return fail("standard output cannot be written; free its disk, or redirect it elsewhere");
}

/// Whether anything but --seal was given.
bool hasMoreThanSeal() {
  auto isGiven = [](const auto &entry) {
    const llvm::cl::Option &option = *entry.second;
    return &option != &sealPath && option.getNumOccurrences() > 0 &&
           llvm::is_contained(option.Categories, &category);
  };
  return input.getNumOccurrences() > 0 || llvm::any_of(llvm::cl::getRegisteredOptions(), isGiven);
}

int run(const char *program) {
  if (!checkValues())
    return 1;
  if (sealPath.getNumOccurrences() > 0) {
    if (hasMoreThanSeal())
      return fail("--seal takes a file and nothing else: run halftonec once to make the artifact "
                  "and, when it is linked, once to seal it");
    std::string error;
    return hm::seal_file(sealPath, error) ? 0 : fail(error);
  }
  if (input.empty())
    return fail("no model given: name a .halftone file");
  if (auto path = sharedPath())
    return fail("'" + *path +
                "' is named twice: give the model, the rules, --object and --header a file each");
  if (updatePart < 64 || updatePart > (int64_t(1) << 40) || updatePart % 64 != 0)
    return fail("--update-part is " + std::to_string(updatePart) +
                "; give a multiple of 64, and of 1024 where the model has clip groups");
  if (leastStay < 1)
    return fail("--least-stay is " + std::to_string(leastStay) +
                "; give a number of bytes, 1 or more");
  if (!checkTargets() || !checkAudit())
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
  if (auditPath.getNumOccurrences() > 0)
    return printAudit(description, context);
  std::vector<std::string> all(targets.begin(), targets.end());
  if (all.empty())
    all = allTargets();
  auto artifact =
      halftone::ir::compile(description, all, pipelineOptions(), &context, ahead(program));
  if (failed(artifact))
    return fail("model '" + description.name + "' was not compiled");
  return writeArtifact(*artifact);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGXFSZ,
              SIG_IGN); // a limit on the size of files then fails the write, as a full disk
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &out) {
    out << "halftonec " << halftone::kVersionOfHalftone << ", with LLVM " << LLVM_VERSION_STRING
        << "\n";
  });
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compiles a Halftone model into an artifact\n");
  return checkOutput(run(argv[0]));
}

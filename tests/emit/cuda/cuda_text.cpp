// SPDX-License-Identifier: Apache-2.0
// cuda_text --verify FILE.mlir: whether every kernel, split by "// -----", fails as its
// expected-error says. cuda_text FILE.mlir [FOLDER]: the CUDA text of every kernel in the file,
// under the first of its cuda_plans or a default plan, on the standard output or as FOLDER/NAME.cu,
// beside FOLDER/launches.inc: {"NAME", {threads, blocks as a lambda}}. The model is called m and
// has the symbol batch.
#include "codegen/emit/cuda/KernelText.h"
#include "codegen/emit/cuda/Regions.h"
#include "codegen/skeletons/Skeletons.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/ToolUtilities.h"

using namespace mlir;

static void printLaunch(halftone::ir::KernelOp kernel, const halftone::skeletons::Launch& launch,
                        llvm::raw_ostream& out) {
  out << "{\"" << kernel.getName() << "\", {" << launch.threads
      << ", []([[maybe_unused]] long long symbol_batch) -> long long { return 1";
  for (const auto& axis : launch.axes)
    out << " * ceil_div(" << halftone::ir::cudaProduct(axis.extent) << ", " << axis.tile << ")";
  out << "; }}},\n";
}

static bool write(const std::string& path, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  file << text;
  return !error;
}

/// The first plan for the first chip, else the default one.
static halftone::ir::CudaPlanAttr planOf(halftone::ir::KernelOp kernel) {
  if (auto chips = kernel.getCudaPlans())
    return cast<halftone::ir::ChipPlansAttr>((*chips)[0]).getPlans().front();
  return halftone::skeletons::of(kernel).getDefaultPlan(kernel);
}

/// Prints every kernel's text, or writes it to `folder`.
static LogicalResult emit(ModuleOp module, const std::string& folder) {
  std::string launches;
  llvm::raw_string_ostream launchStream(launches);
  auto result = module.walk([&](halftone::ir::KernelOp kernel) -> WalkResult {
    auto plan = planOf(kernel);
    auto text = halftone::ir::emitCudaText(kernel, plan, "m", "0", {"batch"});
    if (failed(text)) return WalkResult::interrupt();
    if (folder.empty())
      llvm::outs() << *text;
    else if (!write(folder + "/" + kernel.getName().str() + ".cu", *text))
      return WalkResult::interrupt();
    printLaunch(kernel, *halftone::skeletons::of(kernel).getLaunch(kernel, plan), launchStream);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted() ||
                 (!folder.empty() && !write(folder + "/launches.inc", launches)));
}

static LogicalResult verify(std::unique_ptr<llvm::MemoryBuffer> buffer, MLIRContext& context) {
  return splitAndProcessBuffer(
      std::move(buffer),
      [&](std::unique_ptr<llvm::MemoryBuffer> chunk, raw_ostream&) {
        llvm::SourceMgr sources;
        sources.AddNewSourceBuffer(std::move(chunk), {});
        SourceMgrDiagnosticVerifierHandler handler(sources, &context);
        if (OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context))
          (void)emit(*module, "");
        return handler.verify();
      },
      llvm::nulls());
}

int main(int count, char** values) {
  DialectRegistry registry;
  registry.insert<halftone::ir::HalftoneDialect, arith::ArithDialect, math::MathDialect>();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  std::vector<std::string> arguments(values + 1, values + count);
  bool verifies = !arguments.empty() && arguments[0] == "--verify";
  if (verifies) arguments.erase(arguments.begin());
  auto buffer = llvm::MemoryBuffer::getFile(arguments.empty() ? "" : arguments[0]);
  if (!buffer) return 2;
  if (verifies) return failed(verify(std::move(*buffer), context));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), {});
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  return !module || failed(emit(*module, arguments.size() > 1 ? arguments[1] : ""));
}

// SPDX-License-Identifier: Apache-2.0
#include "compiled_model.hpp"

#include <stdexcept>
#include <utility>

#include "codegen/emit/Artifact.h"
#include "codegen/emit/cpu/Code.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "mlir/IR/MLIRContext.h"

namespace halftone::tests {

struct CompiledModel::Loaded {
  std::unique_ptr<llvm::orc::LLJIT> linker;
};

namespace {

/// The relocatable object; throws Refused.
llvm::SmallVector<char> object_of(const description::Description& model, const std::string& variant,
                                  const std::vector<std::string>& chips, bool optimize) {
  mlir::DialectRegistry registry;
  cpu::registerCpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && said.empty()) {
      said = diagnostic.str();
    }
    return mlir::success();
  });
  ir::PipelineOptions options;
  options.variants = {variant};
  options.diagnosis = false;
  options.optimize = optimize;
  std::vector<std::string> targets{"cpu"};
  targets.insert(targets.end(), chips.begin(), chips.end());
  auto artifact = ir::compile(model, targets, options, &context);
  if (mlir::failed(artifact)) throw Refused{said.empty() ? "codegen gives no reason" : said};
  return std::move(artifact->object);
}

template <class Value>
Value taken(llvm::Expected<Value> value) {
  if (value) return std::move(*value);
  throw std::runtime_error("the object cannot be linked: " + llvm::toString(value.takeError()));
}

}  // namespace

CompiledModel::CompiledModel(const description::Description& model, const std::string& variant,
                             const std::vector<std::string>& chips, bool optimize)
    : loaded_(std::make_unique<Loaded>()) {
  const llvm::SmallVector<char> object = object_of(model, variant, chips, optimize);
  loaded_->linker = taken(llvm::orc::LLJITBuilder().create());
  const llvm::StringRef bytes(object.data(), object.size());
  if (llvm::Error error =
          loaded_->linker->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes))) {
    throw std::runtime_error("the object cannot be linked: " + llvm::toString(std::move(error)));
  }
  const auto address = taken(loaded_->linker->lookup("halftone_artifact_" + model.name));
  image_ = address.toPtr<const manifest::ArtifactImage*>();
}

CompiledModel::~CompiledModel() = default;

}  // namespace halftone::tests

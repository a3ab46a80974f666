// SPDX-License-Identifier: Apache-2.0
// The loop nests' dialects to LLVM IR.
#include "codegen/emit/cpu/Lowering.h"

#include "codegen/emit/cpu/Variants.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace halftone::cpu {

namespace {

/// All dialects at once: one walk takes half the time of one for each.
struct ConvertToLlvm : PassWrapper<ConvertToLlvm, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertToLlvm)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    RewritePatternSet patterns(context);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

/// Without merging blocks, of which loop nests have no equal ones.
GreedyRewriteConfig foldAlone() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return config;
}

} // namespace

static void setTargets(ModuleOp module) {
  module.walk([](LLVM::LLVMFuncOp function) {
    auto variant = function->getAttrOfType<StringAttr>("halftone.variant");
    if (!variant)
      return;
    function->removeAttr("halftone.variant");
    const CpuVariant *known = findCpuVariant(variant.getValue());
    function.setTargetCpu(known->cpu);
    function.setPreferVectorWidth(std::to_string(known->vectorLanes * 32));
    if (!known->features.empty())
      function.setTargetFeaturesAttr(
          LLVM::TargetFeaturesAttr::get(function.getContext(), known->features));
  });
}

std::unique_ptr<llvm::Module> lowerToLlvm(ModuleOp module, llvm::LLVMContext &context) {
  PassManager manager(module->getContext());
  manager.enableVerifier(false); // these are LLVM's own passes, and they take less time than it
  manager.addPass(createCanonicalizerPass(foldAlone()));
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(std::make_unique<ConvertToLlvm>());
  if (failed(manager.run(module)))
    return nullptr;
  setTargets(module);
  registerBuiltinDialectTranslation(*module->getContext());
  registerLLVMDialectTranslation(*module->getContext());
  return translateModuleToLLVMIR(module, context);
}

} // namespace halftone::cpu

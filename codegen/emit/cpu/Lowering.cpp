// SPDX-License-Identifier: Apache-2.0
// The loop nests' dialects to LLVM IR.
#include "codegen/emit/cpu/Lowering.h"

#include "codegen/emit/cpu/Variants.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace halftone::cpu {

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
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(module)))
    return nullptr;
  setTargets(module);
  registerBuiltinDialectTranslation(*module->getContext());
  registerLLVMDialectTranslation(*module->getContext());
  return translateModuleToLLVMIR(module, context);
}

} // namespace halftone::cpu

// SPDX-License-Identifier: Apache-2.0
// Runs passes on IR text: for tests and for looking at what a pass does.
#include "codegen/passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<halftone::ir::HalftoneDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  halftone::ir::registerHalftonePasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassPipelineRegistration<> pipeline(
      "halftone-pipeline", "All passes between import and emission",
      [](mlir::OpPassManager &manager) { halftone::ir::buildPipeline(manager); });
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "halftone-opt\n", registry));
}

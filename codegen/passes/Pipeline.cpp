// SPDX-License-Identifier: Apache-2.0
// The table of contents: one line and one reason per pass. The verifier runs after each.
#include "codegen/passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace halftone::ir {

void buildPipeline(OpPassManager &manager) {
  manager.addPass(createResolvePrecision()); // everything after it may rely on formats
  manager.addPass(
      createInsertCasts()); // rounding points become operations, so that no later pass can lose one
  manager.addPass(createBuildBackward()); // on layers, where formulas are short
  manager.addPass(createCSEPass()); // gradients that were built and not needed, values built twice
  manager.addPass(createChooseSaved()); // while the graph still says what is cheap
  manager.addPass(
      createBuildUpdate()); // the optimizer is ordinary operations, fused like any other
  manager.addPass(createCSEPass());
  manager.addPass(createFormKernels()); // from here on: sources, kernels, sinks
  manager.addPass(createExpandMath());  // one definition of every function for CPU and GPU
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createPlanTiles());  // needs final bodies
  manager.addPass(createPlanMemory()); // needs the final order of launches
}

} // namespace halftone::ir

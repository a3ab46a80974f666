// SPDX-License-Identifier: Apache-2.0
// The table of contents: one line and one reason per pass. The verifier runs after each.
#include "codegen/passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace halftone::ir {

void buildPipeline(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createRoundInternals()); // formulas and gradients are built with their roundings
  manager.addPass(createBuildBackward());  // on layers, where formulas are short and all is f32
  manager.addPass(createResolvePrecision()); // rules speak of gradients and passes too
  manager.addPass(
      createInsertCasts()); // rounding points become operations, so that no later pass can lose one
  manager.addPass(createChooseGrades()); // while every result still has its rounding points
  manager.addPass(createCSEPass()); // gradients that were built and not needed, values built twice
  ChooseSavedOptions saving;
  saving.steps = options.steps;
  llvm::append_range(saving.assume, options.assumed);
  manager.addPass(createChooseSaved(saving)); // while the graph still says what is cheap
  BuildUpdateOptions updating;
  updating.part = options.updatePart;
  manager.addPass(
      createBuildUpdate(updating)); // the optimizer is ordinary operations, fused like any other
  manager.addPass(createBuildWorkingCopies()); // needs the flat layout and the update
  if (options.diagnosis)
    manager.addPass(createBuildDiagnosis()); // before anything is fused
  if (options.decode)
    manager.addPass(createBuildDecode()); // caches hold what products read, rounded as rules say
  manager.addPass(createCSEPass());
  manager.addPass(
      createLowerLayers()); // rules and formulas have spoken: what follows knows no layer
  manager.addPass(createLowerStochasticCasts()); // before anything joins: draws are a map's
  ChunkRowsOptions chunking;
  chunking.forChips = !options.chips.empty();
  manager.addPass(createChunkRows(chunking)); // on primitives, before any of them join
  manager.addPass(createQuantizeWeights());   // which products read, whatever layer they are of
  manager.addPass(createFactorScales());      // likewise, and behind what quantized weights add
  MultiplyCodesOptions multiplying;
  llvm::append_range(multiplying.chips, options.chips);
  multiplying.alike = options.alike;
  llvm::append_range(multiplying.assume, options.assumed);
  if (options.fuse && !options.chips.empty())
    manager.addPass(createMultiplyCodes(multiplying)); // of chips alone, before products join
  RunInPartsOptions inParts;
  inParts.forChips = chunking.forChips;
  if (options.fuse)
    manager.addPass(createRunInParts(inParts)); // while each operation still says its batch
  GatherMatricesOptions gathering;
  gathering.forChips = chunking.forChips;
  if (options.fuse)
    manager.addPass(createGatherMatrices(gathering)); // while maps and products are apart
  JoinProductsOptions joining;
  llvm::append_range(joining.chips, options.chips);
  if (options.fuse && !options.alike && !options.chips.empty())
    manager.addPass(createJoinProducts(joining)); // likewise, and after what is in parts
  LeaveHeadsInPlaceOptions inPlace;
  llvm::append_range(inPlace.chips, options.chips);
  llvm::append_range(inPlace.assume, options.assumed);
  if (options.fuse && !options.alike && !options.chips.empty())
    manager.addPass(createLeaveHeadsInPlace(inPlace)); // of what was joined
  if (options.fuse && !options.alike && !options.chips.empty())
    manager.addPass(createSplitTransforms()); // of chips alone
  if (options.fuse)
    manager.addPass(createRideMaxima()); // of what will be one kernel
  FormKernelsOptions forming;
  forming.fuse = options.fuse;
  manager.addPass(createFormKernels(forming)); // from here on: sources, kernels, sinks
  manager.addPass(createExpandMath()); // one definition of every function, for constants too
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createRoundFromF32()); // which canonicalization does not keep
  manager.addPass(createCSEPass());
  LeavePartsInPlaceOptions parts;
  llvm::append_range(parts.assume, options.assumed);
  if (options.fuse)
    manager.addPass(createLeavePartsInPlace(parts)); // while no plan depends on where rows begin
  PlanTilesOptions planning;
  llvm::append_range(planning.chips, options.chips);
  llvm::append_range(planning.assume, options.assumed);
  manager.addPass(createPlanTiles(planning)); // needs final bodies
  PlanMemoryOptions lying;
  llvm::append_range(lying.assume, options.assumed);
  lying.leastStay = options.leastStay;
  lying.alike = options.alike;
  manager.addPass(createPlanMemory(lying)); // needs the final order of launches
}

} // namespace halftone::ir

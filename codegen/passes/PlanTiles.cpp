// SPDX-License-Identifier: Apache-2.0
// Tiles of every kernel, from the emitters that know what they do with them.
#include "codegen/emit/cpu/LoopNests.h"
#include "codegen/emit/cuda/KernelText.h"
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_PLANTILES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

namespace {

struct PlanTilesPass : halftone::ir::impl::PlanTilesBase<PlanTilesPass> {
  void runOnOperation() override {
    getOperation().walk([](halftone::ir::KernelOp kernel) {
      kernel.setCpuTile(halftone::cpu::defaultCpuTile(kernel));
      kernel.setCudaTile(halftone::ir::defaultCudaTile(kernel));
    });
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Declarations that TableGen makes of Passes.td, and the pipeline.
#ifndef HALFTONE_PASSES_PASSES_H
#define HALFTONE_PASSES_PASSES_H

#include "codegen/ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace halftone::ir {

#define GEN_PASS_DECL
#include "codegen/passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "codegen/passes/Passes.h.inc"

struct PipelineOptions {
  std::vector<std::string> chips = {};    ///< to plan for
  std::vector<std::string> assumed = {};  ///< sizes of symbols: "batch=64"
  std::string cpuArchitecture = {};       ///< of CPU code, as in llvm::Triple
  std::vector<std::string> variants = {}; ///< of CPU code, none others; empty: all
  bool fuse = true; ///< otherwise every operation is a kernel of its own, for tests
  bool diagnosis =
      true;            ///< whether to keep a program that finds the first value that is not finite
  bool decode = false; ///< whether to make the program that decodes, in place of all others
  int64_t steps = -1;  ///< towards less memory (P67), as ChooseSaved takes them; below 0: none
  bool alike = false;  ///< whether the CPU's program is that of chips, launch by launch, for tests
  int64_t updatePart = int64_t(1) << 22; ///< the most elements of an update with states in the
                                         ///< host's memory (P91), a multiple of 1024
  int64_t leastStay = int64_t(1) << 20;  ///< the fewest bytes of an activation that stays in the
                                         ///< host's memory (P98)
  /// Otherwise CPU code is made sooner and runs longer, and what the passes leave is verified once,
  /// behind the last; for tests.
  bool optimize = true;
};

/// All passes between import and emission, in order: the table of contents of codegen.
void buildPipeline(mlir::OpPassManager &manager, const PipelineOptions &options = {});

} // namespace halftone::ir

#endif

// SPDX-License-Identifier: Apache-2.0
// Which activations stay in the host's memory between the passes (P98), and from where to where
// they hold a place on the device.
#ifndef HALFTONE_PASSES_HOSTSTAYS_H
#define HALFTONE_PASSES_HOSTSTAYS_H

#include "codegen/ir/Dialect.h"
#include "codegen/plan/AssumedSizes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace halftone::ir {

/// A buffer of the plan's that stays; kernels are numbered in their order.
struct HostStay {
  int64_t buffer = 0;
  int64_t until = 0; ///< up to this kernel it lies where the forward pass left it
  int64_t from = 0;  ///< from this kernel on it lies where the backward pass finds it
};

struct HostStaysOptions {
  AssumedSizes sizes;
  int64_t leastBytes = 0;
  bool alike = false; ///< nothing stays, as of the CPU
};

/// Of a graph of kernels that have their plans. `placeOf` tells in which buffer a value lies;
/// `typeOf` what a buffer holds, null where that is no whole activation. Notes on the module what
/// rules said and what came of it, and where something stays, that the CPU's plan is another.
llvm::SmallVector<HostStay> findHostStays(GraphOp graph, const HostStaysOptions &options,
                                          llvm::function_ref<int64_t(mlir::Value)> placeOf,
                                          llvm::function_ref<TensorType(int64_t)> typeOf);

/// Whether a phase finds what stays where it comes back to.
bool isBehindStays(Phase phase);

} // namespace halftone::ir

#endif

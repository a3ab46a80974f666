// SPDX-License-Identifier: Apache-2.0
// The passes between import and emission, in the order of Pipeline.cpp. Each says whether it may change rounding.
#ifndef HALFTONE_PASSES_TD
#define HALFTONE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Halftone_Pass<string argument, string summaryText> : Pass<argument, "::mlir::ModuleOp"> {
  let summary = summaryText;
  let dependentDialects = ["::halftone::ir::HalftoneDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ResolvePrecision : Halftone_Pass<"halftone-resolve-precision", "Give every value a format and record the rule that won"> {
  let description = [{
    May change rounding: yes, by decree of the rules.

    Before: `halftone.relu %x : (!halftone.tensor<[batch, 8], none>) -> !halftone.tensor<[batch, 8], none>`
    After: element type of the rules' `store`, and on the operation
    `halftone.precision = #halftone.precision<store = f32, compute = f32, accumulate = f32, rule = 0>`.
  }];
}

def InsertCasts : Halftone_Pass<"halftone-insert-casts", "Insert the fewest casts that keep every declared rounding point"> {
  let description = [{
    May change rounding: no, it makes the declared rounding explicit. One cast per value and format, next to the value.
  }];
}

def BuildBackward : Halftone_Pass<"halftone-build-backward", "Append the gradients of all parameters to the training graph"> {
  let description = [{
    May change rounding: no. Follows D40 to D51; a value's gradients are added in reverse order of its users. The gradient
    of an output passes through halftone.output_gradient, where a caller may put one of its own.
  }];
}

def ChooseSaved : Halftone_Pass<"halftone-choose-saved", "Recompute in the backward pass what is cheaper to compute than to keep"> {
  let description = [{
    May change rounding: no. An elementwise forward value that only the backward pass and elementwise or row operations
    there still need, whose operands are kept anyway, is computed again next to its users.
  }];
}

def BuildUpdate : Halftone_Pass<"halftone-build-update", "Append norm, finite check, clip and optimizer as ordinary operations"> {
  let description = [{
    May change rounding: no. Follows U1 to U7. Decides every parameter's offset in the flat buffer.
  }];
}

def FormKernels : Halftone_Pass<"halftone-form-kernels", "Group operations into kernels: a skeleton with scalar code of its own"> {
  let description = [{
    May change rounding: no. Afterwards a graph holds sources, kernels and sinks only.
  }];
}

def ExpandMath : Halftone_Pass<"halftone-expand-math", "Replace math functions by their recipes of docs/spec/math.md"> {
  let description = [{ May change rounding: no, the recipe is the function's definition. }];
}

def PlanTiles : Halftone_Pass<"halftone-plan-tiles", "Choose every kernel's tiles for CPU and CUDA"> {
  let description = [{ May change rounding: no. Sets cpu_tile and cuda_tile. }];
}

def PlanMemory : Halftone_Pass<"halftone-plan-memory", "Give every tensor a buffer and every buffer a place in the arena"> {
  let description = [{
    May change rounding: no. Buffers whose lifetimes do not overlap share a slot. The plan is the attribute
    `halftone.buffers` of each graph, read by the artifact's writer.
  }];
}

#endif

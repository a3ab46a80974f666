// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_LINEAR_TD
#define HALFTONE_LAYERS_LINEAR_TD

include "OpClasses.td"

def Halftone_LinearOp : Halftone_LayerOp<"linear", ["readForGradient", "getOperandAccesses"]> {
  let summary = "y = x * transpose(weight) + bias or, transposed, x * weight + bias (D21)";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Optional<Halftone_AnyTensor>:$bias,
    OptionalAttr<BoolAttr>:$transposed);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether weight is kept as (columns of x, columns of the result).
    bool isTransposed() { return getTransposed().value_or(false); }
  }];
}

#endif

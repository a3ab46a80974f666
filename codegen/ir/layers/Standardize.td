// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_STANDARDIZE_TD
#define HALFTONE_LAYERS_STANDARDIZE_TD

include "OpClasses.td"

def Halftone_StandardizeOp : Halftone_LayerOp<"standardize", ["getOperandAccesses", "readForGradient"]> {
  let summary = "Every column less a mean, divided by a deviation, which no step moves (D109)";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$mean, Halftone_AnyTensor:$deviation);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $mean `,` $deviation attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

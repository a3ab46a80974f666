// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_CONCAT_TD
#define HALFTONE_LAYERS_CONCAT_TD

include "OpClasses.td"

def Halftone_ConcatOp : Halftone_LayerOp<"concat", ["readForGradient", "getOperandAccesses"]> {
  let summary = "Parts side by side along the last dimension (D27)";
  let arguments = (ins Variadic<Halftone_AnyTensor>:$parts);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

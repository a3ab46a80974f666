// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_CAUSALCONV1D_TD
#define HALFTONE_LAYERS_CAUSALCONV1D_TD

include "OpClasses.td"

def Halftone_CausalConv1dOp : Halftone_LayerOp<"causal_conv1d", ["readForGradient", "getOperandAccesses"]> {
  let summary = "Weighs the present and the past of every channel by taps of its own (D39)";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Optional<Halftone_AnyTensor>:$bias);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_ADD_TD
#define HALFTONE_LAYERS_ADD_TD

include "OpClasses.td"

def Halftone_AddOp : Halftone_LayerOp<"add", ["readForGradient"]> {
  let summary = "D26";
  let arguments = (ins Halftone_AnyTensor:$a, Halftone_AnyTensor:$b);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_LAYERNORM_TD
#define HALFTONE_LAYERS_LAYERNORM_TD

include "OpClasses.td"

def Halftone_LayerNormOp : Halftone_LayerOp<"layer_norm", ["inferResults", "getOperandAccesses"]> {
  let summary = "Normalises every row (D22); mean and rstd are per row";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Halftone_AnyTensor:$bias, F64Attr:$epsilon);
  let results = (outs Halftone_AnyTensor:$result, Halftone_AnyTensor:$mean, Halftone_AnyTensor:$rstd);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

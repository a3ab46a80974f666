// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_RMSNORM_TD
#define HALFTONE_LAYERS_RMSNORM_TD

include "OpClasses.td"

def Halftone_RmsNormOp : Halftone_LayerOp<"rms_norm", ["inferResults", "getOperandAccesses"]> {
  let summary = "Divides every row by its root mean square (D33); rstd is per row";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, F64Attr:$epsilon);
  let results = (outs Halftone_AnyTensor:$result, Halftone_AnyTensor:$rstd);
  let assemblyFormat = "$x `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

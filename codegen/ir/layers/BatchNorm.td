// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_BATCHNORM_TD
#define HALFTONE_LAYERS_BATCHNORM_TD

include "OpClasses.td"

def Halftone_BatchNormOp : Halftone_LayerOp<"batch_norm", ["inferResults", "getOperandAccesses", "readForGradient"]> {
  let summary = "Normalises every column (D59); what mean and variance become is behind what its gradient reads";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Halftone_AnyTensor:$bias, Halftone_AnyTensor:$mean,
                       Halftone_AnyTensor:$variance, F64Attr:$epsilon, F64Attr:$momentum);
  let results = (outs Halftone_AnyTensor:$result, Halftone_AnyTensor:$used_mean, Halftone_AnyTensor:$rstd,
                      Halftone_AnyTensor:$next_mean, Halftone_AnyTensor:$next_variance);
  let assemblyFormat = "$x `,` $weight `,` $bias `,` $mean `,` $variance attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

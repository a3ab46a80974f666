// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_LONGCONVOLUTION_TD
#define HALFTONE_LAYERS_LONGCONVOLUTION_TD

include "OpClasses.td"

def Halftone_LongConvolutionOp : Halftone_LayerOp<"long_convolution", ["readForGradient", "getOperandAccesses"]> {
  let summary = "Every channel of x, [..., places, channels], convolved with its filter, [places, channels], by transforms (D101)";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$filter);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $filter attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_ADAPTIVEPOOL_TD
#define HALFTONE_LAYERS_ADAPTIVEPOOL_TD

include "OpClasses.td"

def Halftone_AdaptivePoolOp : Halftone_LayerOp<"adaptive_pool", ["inferResults", "readForGradient", "getOperandAccesses", "continueFrom"]> {
  let summary = "The largest element or the mean of `size` windows that share x, [..., spatial..., channels] (D99); of a maximum `index` is which element it is";
  let arguments = (ins Halftone_AnyTensor:$x, DenseI64ArrayAttr:$size, StrAttr:$function);
  let results = (outs Halftone_AnyTensor:$result, Optional<Halftone_AnyTensor>:$index);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isMax() { return getFunction() == "max"; } }];
}

#endif

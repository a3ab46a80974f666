// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_POOL_TD
#define HALFTONE_LAYERS_POOL_TD

include "OpClasses.td"

def Halftone_PoolOp : Halftone_LayerOp<"pool", ["inferResults", "readForGradient", "getOperandAccesses", "continueFrom"]> {
  let summary = "The largest element or the mean of windows of x, [..., spatial..., channels] (D85); of a maximum `index` is which element it is";
  let arguments = (ins Halftone_AnyTensor:$x, DenseI64ArrayAttr:$kernel, OptionalAttr<DenseI64ArrayAttr>:$stride,
    OptionalAttr<DenseI64ArrayAttr>:$dilation, OptionalAttr<DenseI64ArrayAttr>:$padding, StrAttr:$function,
    OptionalAttr<BoolAttr>:$count_include_pad);
  let results = (outs Halftone_AnyTensor:$result, Optional<Halftone_AnyTensor>:$index);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isMax() { return getFunction() == "max"; } }];
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_UPSAMPLE_TD
#define HALFTONE_LAYERS_UPSAMPLE_TD

include "OpClasses.td"

def Halftone_UpsampleOp : Halftone_UnaryLayerOp<"upsample", (ins DenseI64ArrayAttr:$factor, StrAttr:$mode),
    ["readForGradient", "getOperandAccesses"]> {
  let summary = "x, [..., spatial..., channels], with `factor` times the elements along spatial dimensions: repeated or on lines (D87)";
  let extraClassDeclaration = [{ bool isLinear() { return getMode() == "linear"; } }];
}

#endif

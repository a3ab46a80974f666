// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_PAD_TD
#define HALFTONE_LAYERS_PAD_TD

include "OpClasses.td"

def Halftone_PadOp : Halftone_UnaryLayerOp<"pad", (ins DenseI64ArrayAttr:$padding, StrAttr:$mode, OptionalAttr<F64Attr>:$pad_value),
    ["readForGradient", "getOperandAccesses", "continueFrom"]> {
  let summary = "x, [..., spatial..., channels], with `padding` elements more before and behind its spatial dimensions, less where that is negative (D91)";
  let extraClassDeclaration = [{
    bool isConstant() { return getMode() == "constant"; }
    size_t countSpatial() { return getPadding().size() / 2; }
  }];
}

#endif

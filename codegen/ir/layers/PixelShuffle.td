// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_PIXELSHUFFLE_TD
#define HALFTONE_LAYERS_PIXELSHUFFLE_TD

include "OpClasses.td"

def Halftone_PixelShuffleOp : Halftone_UnaryLayerOp<"pixel_shuffle", (ins DenseI64ArrayAttr:$factor, OptionalAttr<BoolAttr>:$inverse),
    ["readForGradient", "getOperandAccesses"]> {
  let summary = "x, [..., spatial..., channels], with channels as `factor` times the places, or the other way round (D97)";
  let extraClassDeclaration = [{ bool isInverse() { return getInverse().value_or(false); } }];
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_TRANSPOSE_TD
#define HALFTONE_LAYERS_TRANSPOSE_TD

include "OpClasses.td"

def Halftone_TransposeOp : Halftone_UnaryLayerOp<"transpose", (ins DenseI64ArrayAttr:$axes),
    ["readForGradient", "getOperandAccesses", "isView"]> {
  let summary = "Dimension d of the result is dimension axes[d] of x (D37); a view where only extents of 1 move";
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_RESHAPE_TD
#define HALFTONE_LAYERS_RESHAPE_TD

include "OpClasses.td"

def Halftone_ReshapeOp : Halftone_UnaryLayerOp<"reshape", (ins), ["readForGradient", "getOperandAccesses", "isView"]> {
  let summary = "The values of x, in row-major order, under the shape of the result (D36)";
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_EXPAND_TD
#define HALFTONE_LAYERS_EXPAND_TD

include "OpClasses.td"

def Halftone_ExpandOp : Halftone_UnaryLayerOp<"expand", (ins), ["readForGradient", "getOperandAccesses", "continueFrom"]> {
  let summary = "Every row of x, repeated over the dimensions that the result has between x's rows and the columns (D81)";
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_GLOBALAVERAGEPOOL_TD
#define HALFTONE_LAYERS_GLOBALAVERAGEPOOL_TD

include "OpClasses.td"

def Halftone_GlobalAveragePoolOp : Halftone_UnaryLayerOp<"global_average_pool", (ins), ["readForGradient", "getOperandAccesses", "continueFrom"]> {
  let summary = "The mean of every channel of an image over its places (D89)";
}

#endif

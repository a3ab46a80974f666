// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_RELU_TD
#define HALFTONE_LAYERS_RELU_TD

include "OpClasses.td"

def Halftone_ReluOp : Halftone_UnaryLayerOp<"relu", (ins), ["readForGradient"]> { let summary = "D23"; }

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_GELU_TD
#define HALFTONE_LAYERS_GELU_TD

include "OpClasses.td"

def Halftone_GeluOp : Halftone_UnaryLayerOp<"gelu", (ins UnitAttr:$tanh)> { let summary = "D24, with `tanh` D25"; }

#endif

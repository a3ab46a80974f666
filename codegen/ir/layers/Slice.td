// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SLICE_TD
#define HALFTONE_LAYERS_SLICE_TD

include "OpClasses.td"

def Halftone_SliceOp : Halftone_UnaryLayerOp<"slice", (ins I64Attr:$begin, I64Attr:$end),
    ["readForGradient", "getOperandAccesses"]> {
  let summary = "Columns `begin` to `end` - 1 of every row (D75)";
}

#endif

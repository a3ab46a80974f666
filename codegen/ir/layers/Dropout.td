// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_DROPOUT_TD
#define HALFTONE_LAYERS_DROPOUT_TD

include "OpClasses.td"

def Halftone_DropoutOp : Halftone_UnaryLayerOp<"dropout", (ins F64Attr:$rate), ["readForGradient"]> {
  let summary = "Zero for `rate` of the elements, drawn anew for every pass (D35); in inference x";
}

#endif

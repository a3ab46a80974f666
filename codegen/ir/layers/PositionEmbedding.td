// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_POSITIONEMBEDDING_TD
#define HALFTONE_LAYERS_POSITIONEMBEDDING_TD

include "OpClasses.td"

def Halftone_PositionEmbeddingOp : Halftone_LayerOp<"position_embedding", ["getOperandAccesses", "readForGradient"]> {
  let summary = "Adds to every time its row of weight (D65), NaN where it has none";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

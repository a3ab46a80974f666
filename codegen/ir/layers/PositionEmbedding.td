// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_POSITIONEMBEDDING_TD
#define HALFTONE_LAYERS_POSITIONEMBEDDING_TD

include "OpClasses.td"

def Halftone_PositionEmbeddingOp : Halftone_LayerOp<"position_embedding", ["getOperandAccesses", "readForGradient", "continueFrom"]> {
  let summary = "Adds to every time, or to every position, its row of weight (D65), NaN where it has none";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Optional<Halftone_AnyTensor>:$position);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $weight (`at` $position^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SINUSOIDALEMBEDDING_TD
#define HALFTONE_LAYERS_SINUSOIDALEMBEDDING_TD

include "OpClasses.td"

def Halftone_SinusoidalEmbeddingOp : Halftone_LayerOp<"sinusoidal_embedding", ["getOperandAccesses", "readForGradient", "continueFrom"]> {
  let summary = "Adds sines and cosines of angles that grow with the position (D66)";
  let arguments = (ins Halftone_AnyTensor:$x, Optional<Halftone_AnyTensor>:$position, F64Attr:$base);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x (`at` $position^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_EMBEDDING_TD
#define HALFTONE_LAYERS_EMBEDDING_TD

include "OpClasses.td"

def Halftone_EmbeddingOp : Halftone_LayerOp<"embedding", ["getOperandAccesses", "readForGradient"]> {
  let summary = "For every token its row of weight (D34), NaN where it has none";
  let arguments = (ins Halftone_AnyTensor:$token, Halftone_AnyTensor:$weight, OptionalAttr<I64Attr>:$padding_index);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$token `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

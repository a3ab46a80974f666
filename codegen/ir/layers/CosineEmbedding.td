// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_COSINEEMBEDDING_TD
#define HALFTONE_LAYERS_COSINEEMBEDDING_TD

include "OpClasses.td"

def Halftone_CosineEmbeddingOp : Halftone_LayerOp<"cosine_embedding", ["inferResults", "getOperandAccesses", "buildDivisor"]> {
  let summary = "What the cosine of every two rows lacks to 1, or exceeds a margin by (D107), before the mean";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$y, Halftone_AnyTensor:$target,
                       Optional<Halftone_AnyTensor>:$sample_weight, F64Attr:$margin, OptionalAttr<BoolAttr>:$summed);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $y `,` $target (`weighted` $sample_weight^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

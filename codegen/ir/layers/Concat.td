// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_CONCAT_TD
#define HALFTONE_LAYERS_CONCAT_TD

include "OpClasses.td"

def Halftone_ConcatOp : Halftone_LayerOp<"concat"> {
  let summary = "Parts side by side along the last dimension (D27)";
  let arguments = (ins Variadic<Halftone_AnyTensor>:$parts);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_SliceOp : Halftone_TensorOp<"slice"> {
  let summary = "The columns of one part of a concat (D46)";
  let arguments = (ins Halftone_AnyTensor:$x, I64Attr:$offset);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `from` $offset attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

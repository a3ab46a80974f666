// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_MATMUL_TD
#define HALFTONE_LAYERS_MATMUL_TD

include "OpClasses.td"

def Halftone_MatmulOp : Halftone_LayerOp<"matmul", ["readForGradient", "getOperandAccesses"]> {
  let summary = "a * b, for each matrix of their leading dimensions (D38)";
  let arguments = (ins Halftone_AnyTensor:$a, Halftone_AnyTensor:$b, BoolAttr:$transpose_a, BoolAttr:$transpose_b);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

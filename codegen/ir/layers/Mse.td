// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_MSE_TD
#define HALFTONE_LAYERS_MSE_TD

include "OpClasses.td"

def Halftone_MseOp : Halftone_LayerOp<"mse", ["inferResults", "getOperandAccesses", "buildDivisor"]> {
  let summary = "The square of every difference (D30), before the mean";
  let description = [{ With a weight of every row, of whole rows (D71). }];
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$target, Optional<Halftone_AnyTensor>:$sample_weight,
                       OptionalAttr<BoolAttr>:$summed);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $target (`weighted` $sample_weight^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

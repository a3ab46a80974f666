// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SOFTCROSSENTROPY_TD
#define HALFTONE_LAYERS_SOFTCROSSENTROPY_TD

include "OpClasses.td"

def Halftone_SoftCrossEntropyOp : Halftone_LayerOp<"soft_cross_entropy", ["inferResults", "getOperandAccesses", "buildDivisor"]> {
  let summary = "The loss of every row whose target is a share of each class (D105), before the mean";
  let arguments = (ins Halftone_AnyTensor:$logits, Halftone_AnyTensor:$target, Optional<Halftone_AnyTensor>:$sample_weight,
                       OptionalAttr<BoolAttr>:$summed);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$logits `,` $target (`weighted` $sample_weight^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

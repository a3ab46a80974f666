// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_GROUPNORM_TD
#define HALFTONE_LAYERS_GROUPNORM_TD

include "OpClasses.td"

def Halftone_GroupNormOp : Halftone_LayerOp<"group_norm", ["inferResults", "getOperandAccesses", "continueFrom"]> {
  let summary = "Normalises groups of channels of every image over its places (D83); mean and rstd are per image and channel";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Halftone_AnyTensor:$bias, F64Attr:$epsilon, OptionalAttr<I64Attr>:$groups);
  let results = (outs Halftone_AnyTensor:$result, Halftone_AnyTensor:$mean, Halftone_AnyTensor:$rstd);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Without groups every channel is one of its own.
    int64_t countGroups();
  }];
}

#endif

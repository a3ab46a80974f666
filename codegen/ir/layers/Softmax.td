// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SOFTMAX_TD
#define HALFTONE_LAYERS_SOFTMAX_TD

include "OpClasses.td"

def Halftone_SoftmaxOp : Halftone_UnaryLayerOp<"softmax", (ins OptionalAttr<BoolAttr>:$log)> {
  let summary = "Shares of exponentials in the sum of their row, or the logarithms of these (D103)";
  let extraClassDeclaration = [{ bool isLog() { return getLog().value_or(false); } }];
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_GELU_TD
#define HALFTONE_LAYERS_GELU_TD

include "OpClasses.td"

def Halftone_GeluOp : Halftone_UnaryLayerOp<"gelu", (ins StrAttr:$approximation, UnitAttr:$narrow), [],
    [DeclareOpInterfaceMethods<Halftone_Graded>]> {
  let summary = "D24, or D25 with approximation tanh; `narrow`: N10";
  let extraClassDeclaration = [{ bool isByTanh() { return getApproximation() == "tanh"; } }];
}

#endif

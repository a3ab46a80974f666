// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SILU_TD
#define HALFTONE_LAYERS_SILU_TD

include "OpClasses.td"

def Halftone_SiluOp : Halftone_UnaryLayerOp<"silu", (ins UnitAttr:$narrow), [], [DeclareOpInterfaceMethods<Halftone_Graded>]> {
  let summary = "D32; `narrow`: N10";
}

#endif

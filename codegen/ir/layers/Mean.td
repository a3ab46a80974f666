// SPDX-License-Identifier: Apache-2.0
// How every loss ends.
#ifndef HALFTONE_LAYERS_MEAN_TD
#define HALFTONE_LAYERS_MEAN_TD

include "OpClasses.td"

def Halftone_MeanOp : Halftone_LayerOp<"mean", ["getOperandAccesses"]> {
  let summary = "The sum over all elements by the flat tree N4, divided by their number or by a weight, or as it is (D71)";
  let arguments = (ins Halftone_AnyTensor:$x, Optional<Halftone_Scalar>:$divisor, UnitAttr:$summed);
  let results = (outs Halftone_Scalar:$result);
  let assemblyFormat = "$x (`by` $divisor^)? attr-dict `:` functional-type(operands, results)";
}

#endif

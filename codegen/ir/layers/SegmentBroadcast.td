// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SEGMENTBROADCAST_TD
#define HALFTONE_LAYERS_SEGMENTBROADCAST_TD

include "OpClasses.td"

def Halftone_SegmentBroadcastOp : Halftone_LayerOp<"segment_broadcast", ["readForGradient", "getOperandAccesses"]> {
  let summary = "For every time the row of x that its segment has (D95)";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$segment);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `by` $segment attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif

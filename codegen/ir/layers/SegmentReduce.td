// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SEGMENTREDUCE_TD
#define HALFTONE_LAYERS_SEGMENTREDUCE_TD

include "OpClasses.td"

def Halftone_SegmentReduceOp : Halftone_LayerOp<"segment_reduce", ["inferResults", "readForGradient", "getOperandAccesses"]> {
  let summary = "For every segment of a sequence the sum, the mean or the largest of the times that belong to it (D93); `found` is how many they are of a mean, and the first time that has the largest";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$segment, I64Attr:$segments, StrAttr:$function);
  let results = (outs Halftone_AnyTensor:$result, Optional<Halftone_AnyTensor>:$found);
  let assemblyFormat = "$x `by` $segment attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isMean() { return getFunction() == "mean"; }
    bool isMax() { return getFunction() == "max"; }
  }];
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_SEGMENTREDUCE_TD
#define HALFTONE_LAYERS_SEGMENTREDUCE_TD

include "OpClasses.td"

def Halftone_SegmentReduceOp : Halftone_LayerOp<"segment_reduce", ["inferResults", "readForGradient", "getOperandAccesses"]> {
  let summary = "For every segment of a sequence the sum or the mean of the times that belong to it (D93); of a mean `count` is how many they are";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$segment, I64Attr:$segments, StrAttr:$function);
  let results = (outs Halftone_AnyTensor:$result, Optional<Halftone_AnyTensor>:$count);
  let assemblyFormat = "$x `by` $segment attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ bool isMean() { return getFunction() == "mean"; } }];
}

#endif

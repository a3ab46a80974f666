// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_ROTARY_TD
#define HALFTONE_LAYERS_ROTARY_TD

include "OpClasses.td"

def Halftone_RotaryOp : Halftone_LayerOp<"rotary", ["inferResults", "getOperandAccesses", "readForGradient", "continueFrom"]> {
  let summary = "Turns pairs of every head's elements by angles that grow with the position (D64); cosine and sine are theirs";
  let arguments = (ins Halftone_AnyTensor:$x, Optional<Halftone_AnyTensor>:$position, I64Attr:$heads, F64Attr:$base,
    BoolAttr:$interleaved, F64Attr:$factor, OptionalAttr<I64Attr>:$rotated, OptionalAttr<F64Attr>:$low_factor,
    OptionalAttr<F64Attr>:$high_factor, OptionalAttr<F64Attr>:$original_length);
  let results = (outs Halftone_AnyTensor:$result, Halftone_AnyTensor:$cosine, Halftone_AnyTensor:$sine);
  let assemblyFormat = "$x (`at` $position^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many elements a head has, and how many of them are turned.
    int64_t getWidth();
    int64_t countRotated() { return getRotated().value_or(getWidth()); }
  }];
}

#endif

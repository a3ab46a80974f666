// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_ATTENTION_TD
#define HALFTONE_LAYERS_ATTENTION_TD

include "OpClasses.td"

def Halftone_AttentionOp : Halftone_LayerOp<"attention", ["getOperandAccesses", "countOperandsOfPasses", "continueFrom"], [AttrSizedOperandSegments]> {
  let summary = "Means of values, weighted by softmax of the products of queries and keys, head by head (D61)";
  let description = [{ With `position` that is i + (n - m) of D61: where a query lies among keys that are rows of a cache. }];
  let arguments = (ins Halftone_AnyTensor:$query, Halftone_AnyTensor:$key, Halftone_AnyTensor:$value,
                       Optional<Halftone_AnyTensor>:$length, Optional<Halftone_AnyTensor>:$key_mask,
                       Optional<Halftone_AnyTensor>:$segment, Optional<Halftone_AnyTensor>:$position, I64Attr:$heads, OptionalAttr<I64Attr>:$key_heads,
                       OptionalAttr<BoolAttr>:$causal, OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$score_scale,
                       OptionalAttr<F64Attr>:$soft_cap, OptionalAttr<BoolAttr>:$alibi, OptionalAttr<F64Attr>:$dropout_rate);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`length` $length^)? (`key_mask` $key_mask^)? (`segment` $segment^)? (`at` $position^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t countHeads() { return static_cast<int64_t>(getHeads()); }
    int64_t countKeyHeads() { return static_cast<int64_t>(getKeyHeads().value_or(getHeads())); }
  }];
}

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_CROSSENTROPY_TD
#define HALFTONE_LAYERS_CROSSENTROPY_TD

include "OpClasses.td"

def Halftone_CrossEntropyOp : Halftone_LayerOp<"cross_entropy", ["inferResults", "getOperandAccesses", "buildDivisor"],
                                              [AttrSizedOperandSegments]> {
  let summary = "The loss of every row (D29), before the mean";
  let arguments = (ins Halftone_AnyTensor:$logits, Halftone_AnyTensor:$label, Optional<Halftone_AnyTensor>:$class_weight,
                       Optional<Halftone_AnyTensor>:$sample_weight,
                       OptionalAttr<I64Attr>:$ignore_index, OptionalAttr<F64Attr>:$label_smoothing,
                       OptionalAttr<F64Attr>:$z_loss, OptionalAttr<F64Attr>:$soft_cap, OptionalAttr<I64Attr>:$chunk_rows,
                       OptionalAttr<BoolAttr>:$summed);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = [{
    $logits `,` $label (`by_class` $class_weight^)? (`weighted` $sample_weight^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif

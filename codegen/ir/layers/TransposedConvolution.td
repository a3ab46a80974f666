// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_TRANSPOSEDCONVOLUTION_TD
#define HALFTONE_LAYERS_TRANSPOSEDCONVOLUTION_TD

include "OpClasses.td"

def Halftone_TransposedConvolutionOp : Halftone_LayerOp<"transposed_convolution", ["readForGradient", "getOperandAccesses", "continueFrom"]> {
  let summary = "Sums of products of a weight, [out, kernel..., in / groups], with the elements of x whose windows hold a place (D79)";
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$weight, Optional<Halftone_AnyTensor>:$bias,
    DenseI64ArrayAttr:$kernel, OptionalAttr<DenseI64ArrayAttr>:$stride, OptionalAttr<DenseI64ArrayAttr>:$dilation,
    OptionalAttr<DenseI64ArrayAttr>:$padding, OptionalAttr<I64Attr>:$groups,
    OptionalAttr<DenseI64ArrayAttr>:$output_padding);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t countGroups() { return static_cast<int64_t>(getGroups().value_or(1)); }
  }];
}

#endif

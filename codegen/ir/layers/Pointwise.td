// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_LAYERS_POINTWISE_TD
#define HALFTONE_LAYERS_POINTWISE_TD

include "OpClasses.td"

class Halftone_FunctionOp<string mnemonic, list<string> own = [], list<Trait> traits = []> : Halftone_LayerOp<mnemonic, own,
    traits # [SingleBlockImplicitTerminator<"YieldOp">, IsolatedFromAbove, RecursiveMemoryEffects]> {
  let description = [{
    Operands have the result's shape, or are [columns] (one value a column) or [] (one value for all).
    ```mlir
    %y = halftone.pointwise "relu" (%x) : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %a, %zero : f32
      %r = arith.select %c, %a, %zero : f32
      halftone.yield %r : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$function, Variadic<Halftone_AnyTensor>:$inputs);
  let results = (outs Variadic<Halftone_AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$function `(` $inputs `)` attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
}
def Halftone_PointwiseOp : Halftone_FunctionOp<"pointwise", [], [DeclareOpInterfaceMethods<Halftone_Graded>]> {
  let summary = "The user's function of every element (D28)";
}
def Halftone_PointwiseLossOp : Halftone_FunctionOp<"pointwise_loss", ["inferResults", "getOperandAccesses", "buildDivisor"]> {
  let summary = "The user's function of every element (D31), before the mean";
  let arguments = (ins StrAttr:$function, Variadic<Halftone_AnyTensor>:$inputs, OptionalAttr<BoolAttr>:$summed);
  let extraClassDeclaration = [{
    /// The last input, if the region has no argument for it; otherwise null (D70).
    ::mlir::Value getSampleWeight() {
      return getInputs().size() > getBody().getNumArguments() ? getInputs().back() : ::mlir::Value();
    }
    ::mlir::ValueRange getValues() { return getInputs().take_front(getBody().getNumArguments()); }
  }];
}

#endif

// SPDX-License-Identifier: Apache-2.0
// What kernels are made of: scalar code for every element, sums and matrix products, each over a domain that its operands
// and results are addressed from. Gradients and the update are built of them, layers become them.
#ifndef HALFTONE_PRIMITIVES_TD
#define HALFTONE_PRIMITIVES_TD

include "OpClasses.td"

def Halftone_MapOp : Halftone_TensorOp<"map", [SingleBlockImplicitTerminator<"YieldOp">, IsolatedFromAbove, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<Halftone_Graded>]> {
  let summary = "Scalar code for every element of a domain";
  let description = [{
    The region receives one scalar per operand and yields one per result. It may use column_index, axis_index, element_index, draw, count,
    and over the element's row row_sum and row_max.
    ```mlir
    %y = halftone.map "halve" (%x) : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[batch, 8], f32> {
    ^bb0(%a: f32):
      %half = arith.constant 0.5 : f32
      %r = arith.mulf %a, %half : f32
      halftone.yield %r : f32
    }
    ```
    Without `over` the domain is the shape of the results, and operands have that shape, or are [columns] (one value a
    column) or [] (one value for all). Without operands it fills its results.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Halftone_AnyTensor>:$inputs, OptionalAttr<ArrayAttr>:$over,
                       OptionalAttr<Halftone_AccessArray>:$reads, OptionalAttr<Halftone_AccessArray>:$writes);
  let results = (outs Variadic<Halftone_AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $label `(` $inputs `)` (`over` $over^ `reads` $reads `writes` $writes)? attr-dict `:` functional-type(operands, results)
    $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ ::llvm::StringRef getNameInKernel() { return getLabel(); } }];
}
def Halftone_ReduceOp : Halftone_Op<"reduce", [Pure, RecursiveMemoryEffects, DeclareOpInterfaceMethods<Halftone_KernelForm, ["hasFinish", "buildFinish"]>]> {
  let summary = "Sums over rows by the column tree N3, or over everything by the flat tree N4";
  let description = [{
    The domain is the shape of the first operand. `each` receives one scalar per operand and yields one summand per sum;
    without it operands that are no scalars are summed as they are. A sum over rows is a result with one value a column,
    or, of more dimensions, with one for each element of a batch, which are the first axes, and each column: N3 over the rows of each.
    With a `finish` the sums are over everything: it receives them, then the scalar operands, and yields one scalar per
    result.
    ```mlir
    %sum = halftone.reduce "column_sum" (%x) : (!halftone.tensor<[batch, 8], f32>) -> !halftone.tensor<[8], f32>
    ```
  }];
  let arguments = (ins StrAttr:$label, Variadic<Halftone_AnyTensor>:$inputs, OptionalAttr<Halftone_AccessArray>:$reads,
                       OptionalAttr<Halftone_PassAttr>:$pass);
  let results = (outs Variadic<Halftone_AnyTensor>:$outputs);
  let regions = (region AnyRegion:$each, AnyRegion:$finish);
  let assemblyFormat = [{
    $label `(` $inputs `)` (`reads` $reads^)? attr-dict `:` functional-type(operands, results) (`each` $each^)?
    (`finish` $finish^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getNameInKernel() { return getLabel(); }
    /// Whether it sums over rows what its one operand holds.
    bool isColumnSum() { return getInputs().size() == 1 && getEach().empty() && getFinish().empty(); }
    /// The operands that are one value for all.
    ::llvm::SmallVector<::mlir::Value> getScalars();
    unsigned countSums();
  }];
}
def Halftone_SegmentSumOp : Halftone_TensorOp<"segment_sum"> {
  let summary = "For every row of the result the sum of the rows of x whose index it is (D53)";
  let description = [{
    Each element is one chain of additions from +0 over the rows of x, ascending. Rows of x whose index is no row of the
    result, or is `passed_over`, are added to none. Dimensions of the result before its rows and columns are those of a batch,
    the first ones of x, too: each of its elements has rows of its own, and of x those that are its.
    ```mlir
    %g = halftone.segment_sum %token, %x {passed_over = 0 : i64}
        : (!halftone.tensor<[batch], i32>, !halftone.tensor<[batch, 12], f32>) -> !halftone.tensor<[37, 12], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$index, Halftone_AnyTensor:$x, OptionalAttr<I64Attr>:$passed_over);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$index `,` $x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_SegmentMaxOp : Halftone_TensorOp<"segment_max"> {
  let summary = "For every row of the result, of each column, the largest of the rows of x whose index it is (D93)";
  let description = [{
    As segment_sum, with maximum(x, before) of N5 in place of additions, from -infinity; what is left of that is +0.
    ```mlir
    %y = halftone.segment_max %patch, %x : (!halftone.tensor<[batch, 9], i32>, !halftone.tensor<[batch, 9, 12], f32>) -> !halftone.tensor<[batch, 4, 12], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$index, Halftone_AnyTensor:$x);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$index `,` $x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_TransformOp : Halftone_TensorOp<"transform"> {
  let summary = "The spectrum of every channel of a sequence (Z2), in blocks of 16 channels";
  let description = [{
    x is [..., places, channels], places at most as many as `turns` has. The result is [..., blocks, places of the spectrum, 2, 16]: real
    and imaginary parts of 16 channels, +0 where x has none.
    ```mlir
    %s = halftone.transform %x by %turns
        : (!halftone.tensor<[batch, 13, 20], f32>, !halftone.tensor<[2, 16], f32>) -> !halftone.tensor<[batch, 2, 16, 2, 16], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$turns);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `by` $turns attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_InverseTransformOp : Halftone_TensorOp<"inverse_transform"> {
  let summary = "The first places of the sequence that has this spectrum (Z3)";
  let description = [{
    The spectrum is one of `transform`, the result [..., places, channels]. `work` has the spectrum's shape; the kernel works there, and nothing reads it.
    ```mlir
    %y, %work = halftone.inverse_transform %s by %turns : (!halftone.tensor<[batch, 2, 16, 2, 16], f32>, !halftone.tensor<[2, 16], f32>)
        -> (!halftone.tensor<[batch, 13, 20], f32>, !halftone.tensor<[batch, 2, 16, 2, 16], f32>)
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$spectrum, Halftone_AnyTensor:$turns);
  let results = (outs Halftone_AnyTensor:$result, Halftone_AnyTensor:$work);
  let assemblyFormat = "$spectrum `by` $turns attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_TransformPassOp : Halftone_TensorOp<"transform_pass"> {
  let summary = "Some of the stages of `transform`, in the shared memory of chips: of a sequence the first ones, of what they leave the others";
  let description = [{
    x is a sequence or, of a rank as high as the result's, a spectrum behind the first stages. Where all stages fit, the first ones are all (decisions/0057).
    ```mlir
    %first = halftone.transform_pass %x by %turns
        : (!halftone.tensor<[batch, 2000, 20], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[batch, 2, 2048, 2, 16], f32>
    %s = halftone.transform_pass %first by %turns
        : (!halftone.tensor<[batch, 2, 2048, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[batch, 2, 2048, 2, 16], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$turns);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `by` $turns attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_InverseTransformPassOp : Halftone_TensorOp<"inverse_transform_pass"> {
  let summary = "Undoes the stages of a `transform_pass`: with a spectrum as its result those of the other one, with a sequence those of the first";
  let description = [{
    ```mlir
    %first = halftone.inverse_transform_pass %s by %turns
        : (!halftone.tensor<[batch, 2, 2048, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[batch, 2, 2048, 2, 16], f32>
    %y = halftone.inverse_transform_pass %first by %turns
        : (!halftone.tensor<[batch, 2, 2048, 2, 16], f32>, !halftone.tensor<[2, 2048], f32>) -> !halftone.tensor<[batch, 2000, 20], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$spectrum, Halftone_AnyTensor:$turns);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$spectrum `by` $turns attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_ConvolutionPassOp : Halftone_TensorOp<"convolution_pass"> {
  let summary = "The last stages of a transform, a product with another spectrum or, with `conjugate`, its conjugate (Z4), and those stages undone, in one kernel of chips";
  let description = [{
    x and the result are sequences where a block holds all stages, and else spectra behind the first ones. `factor` is a spectrum without leading
    dimensions, the same for all of x's.
    ```mlir
    %y = halftone.convolution_pass %x times %f by %turns : (!halftone.tensor<[batch, 200, 20], f32>,
        !halftone.tensor<[2, 256, 2, 16], f32>, !halftone.tensor<[2, 256], f32>) -> !halftone.tensor<[batch, 200, 20], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$x, Halftone_AnyTensor:$factor, Halftone_AnyTensor:$turns, UnitAttr:$conjugate);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `times` $factor `by` $turns attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_ContractOp : Halftone_TensorOp<"contract"> {
  let summary = "Matrix products (D21, D40), each result one chain N1";
  let description = [{
    lhs is [m, k], or [k, m] with transpose_lhs; rhs [k, n], or [n, k] with transpose_rhs. A tensor of more dimensions is
    the matrix of its rows. The first `batch_axes` dimensions of lhs, rhs and result are those of a batch: each of its elements
    is a product of its own, of the matrices behind them. With `start` the chains begin with its elements, where the result lies.
    ```mlir
    %y = halftone.contract %q, %k {batch_axes = 1, pass = #halftone.pass<forward>, transpose_rhs}
        : (!halftone.tensor<[batch, 7, 16], f32>, !halftone.tensor<[batch, 9, 16], f32>) -> !halftone.tensor<[batch, 7, 9], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$lhs, Halftone_AnyTensor:$rhs, Optional<Halftone_AnyTensor>:$start,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, Halftone_PassAttr:$pass, OptionalAttr<StrAttr>:$label,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$batch_axes);
  let results = (outs Halftone_AnyTensor:$result);
  let extraClassDeclaration = [{
    /// The dimensions that it sums over.
    ::llvm::SmallVector<::mlir::Attribute> getReduction();
    ::llvm::StringRef getNameInKernel() { return getLabel().value_or(getOperationName().split('.').second); }
  }];
  let assemblyFormat = "$lhs `,` $rhs (`from` $start^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_ScaledContractOp : Halftone_TensorOp<"scaled_contract"> {
  let summary = "Matrix products of 8-bit codes in blocks, each with a scale that it is multiplied by (P51, P101), as chips have them (P21)";
  let description = [{
    lhs and rhs are those of a contract without a batch. Their scales have an element for each block of `lhs_block`, `rhs_block`: so many lines, which
    are no part of the sum, by so many of its places, a multiple of 32, and are powers of two; or `by_factors` any numbers, by which sums of 128 products are
    multiplied (N17), of which blocks have a multiple of places. Or codes have 4 bits (decisions/0068): an operand is [lines, parts, 8] in i32, eight
    words of eight codes of f4e2m1 for every 64 places of the sum, its scales [lines, parts] in i32, and a block is of one line by 16 places, with a byte of
    f8e4m3, or by 32, with a field of exponents.
    ```mlir
    %y = halftone.scaled_contract %x by %xs, %w by %ws
        {lhs_block = array<i64: 1, 32>, pass = #halftone.pass<forward>, rhs_block = array<i64: 1, 32>, transpose_rhs}
        : (!halftone.tensor<[batch, 64], f8E4M3FN>, !halftone.tensor<[batch, 2], f32>,
           !halftone.tensor<[48, 64], f8E4M3FN>, !halftone.tensor<[48, 2], f32>) -> !halftone.tensor<[batch, 48], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$lhs, Halftone_AnyTensor:$lhs_scales, Halftone_AnyTensor:$rhs, Halftone_AnyTensor:$rhs_scales,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, Halftone_PassAttr:$pass, OptionalAttr<StrAttr>:$label,
                       DenseI64ArrayAttr:$lhs_block, DenseI64ArrayAttr:$rhs_block, UnitAttr:$by_factors);
  let results = (outs Halftone_AnyTensor:$result);
  let extraClassDeclaration = [{
    /// The dimensions that it sums over.
    ::llvm::SmallVector<::mlir::Attribute> getReduction();
    /// Whether its codes have 4 bits.
    bool isPacked();
    ::llvm::StringRef getNameInKernel() { return getLabel().value_or("contract"); }
  }];
  let assemblyFormat = "$lhs `by` $lhs_scales `,` $rhs `by` $rhs_scales attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_ViewOp : Halftone_Op<"view", [Pure]> {
  let summary = "The elements of x, in row-major order, under another shape: no kernel, they stay where they are";
  let description = [{
    ```mlir
    %heads = halftone.view %x : (!halftone.tensor<[batch, 48], f32>) -> !halftone.tensor<[batch, 12, 4], f32>
    ```
    Where a section runs part by part (RunInParts), the operand or the result has so many `parts` dimensions in front of the
    other's: one is all parts, the other that of the part at hand.
    ```mlir
    %one = halftone.view %keys {parts = 2 : i64}
        : (!halftone.tensor<[batch, 12, 64, 16], f32>) -> !halftone.tensor<[64, 16], f32>
    ```
    Of a flat buffer it may be some elements, from the one `at` on.
    ```mlir
    %weight = halftone.view %parameters {at = 64 : i64} : (!halftone.tensor<[224], f32>) -> !halftone.tensor<[12, 8], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$x, DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$parts,
                       DefaultValuedAttr<I64Attr, "-1">:$at);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether x is what a section leaves of the part at hand.
    bool leavesPart();
    /// Whether x is a flat buffer, of which it is some elements.
    bool isOfFlat() { return static_cast<int64_t>(getAt()) >= 0; }
  }];
}
def Halftone_CastOp : Halftone_TensorOp<"cast"> {
  let summary = "A declared rounding point: to the result's format, nearest even, toward zero or stochastic, saturating or not (F2, F6); exact where it widens";
  let description = [{
    A `stochastic` cast is the rounding point of that name (P48); LowerStochasticCasts leaves none.
    Of integers that an input is delivered in it makes their value, with the input's `scale` and `offset` (D16), before it rounds.
    ```mlir
    %v = halftone.cast %x {offset = -0.5 : f32, scale = 0.25 : f32}
        : (!halftone.tensor<[batch, 64], ui8>) -> !halftone.tensor<[batch, 64], f32>
    ```
  }];
  let arguments = (ins Halftone_AnyTensor:$x, UnitAttr:$toward_zero, OptionalAttr<StrAttr>:$stochastic, UnitAttr:$saturate,
                       OptionalAttr<F32Attr>:$scale, OptionalAttr<F32Attr>:$offset);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "const ::halftone::encoding::Encoding &":$to,
                             CArg<"::mlir::StringRef", "{}">:$point)>];
  let results = (outs Halftone_AnyTensor:$result);
  let extraClassDeclaration = [{
    /// What it rounds to: the result's element.
    ::halftone::encoding::Encoding getEncoding();
    /// Whether nothing is rounded to another format: every value of the operand's element, or what integers stand for, is
    /// one of the result's.
    bool isExact();
    /// The value of an integer's number.
    ::mlir::Value convert(::mlir::OpBuilder &builder, ::mlir::Value number);
  }];
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif

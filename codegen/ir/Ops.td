// SPDX-License-Identifier: Apache-2.0
// Operations of the halftone dialect, in the order in which a step meets them: sources, layers and losses, their
// gradients, the update, sinks, and the kernels that all of them become.
#ifndef HALFTONE_OPS_TD
#define HALFTONE_OPS_TD

include "OpClasses.td"

//===--- Structure ---===//

def Halftone_GraphOp : Halftone_Op<"graph", [SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "One program: `training` has all phases, `inference` those of outputs and losses, `decode` those of outputs";
  let description = [{
    ```mlir
    halftone.graph "inference" {
      %x = halftone.input "pixels" : !halftone.tensor<[batch, 64], none>
      halftone.output "logits", %x : !halftone.tensor<[batch, 64], none>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    bool isTraining() { return getName() == "training"; }
    bool isInference() { return getName() == "inference" || getName() == "decode"; }
  }];
}

//===--- Sources ---===//

class Halftone_SourceOp<string mnemonic, dag extra = (ins), list<Trait> traits = [Pure]> : Halftone_Op<mnemonic, traits> {
  let arguments = !con((ins StrAttr:$name), extra);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}
def Halftone_InputOp : Halftone_SourceOp<"input", (ins UnitAttr:$gradient, UnitAttr:$integers,
    OptionalAttr<F32Attr>:$scale, OptionalAttr<F32Attr>:$offset)> {
  let summary = "A tensor that every step receives (D20); `gradient` where d objective / d input is wanted (D15)";
  let description = [{
    One of ui8, si8, ui16 or si16 is read as a value: its number, times `scale`, plus `offset` (D16); with `integers`, as one of
    si64 or i32 always, by labels and tokens. InsertCasts makes f32 or i32 of it.
    ```mlir
    %x = halftone.input "pixels" {offset = -0.5 : f32, scale = 0.25 : f32} : !halftone.tensor<[batch, 64], ui8>
    ```
  }];
}
def Halftone_ParameterOp : Halftone_SourceOp<"parameter", (ins
    Halftone_InitializerAttr:$initializer, DefaultValuedAttr<BoolAttr, "true">:$decay,
    DefaultValuedAttr<BoolAttr, "false">:$frozen, DefaultValuedAttr<F64Attr, "1.0">:$learning_rate_scale,
    OptionalAttr<I64Attr>:$offset), []> {
  let summary = "A weight; BuildUpdate decides its offset in the flat parameter buffer";
  let description = [{ Not pure: it stays when working copies have taken all its readers. }];
}
def Halftone_StateOp : Halftone_SourceOp<"state", (ins F64Attr:$initial, UnitAttr:$optimizer, UnitAttr:$cache)> {
  let summary = "A tensor that persists; `optimizer` marks state that only the update changes, `cache` rows of earlier times";
}
def Halftone_HyperparameterOp : Halftone_SourceOp<"hyperparameter", (ins F64Attr:$initial)> {
  let summary = "A scalar that the host may set between steps";
}
def Halftone_CountersOp : Halftone_Op<"counters", [Pure]> {
  let summary = "What layers draw by beside layer and element (D35), i32: the host gives it with every pass";
  let results = (outs Halftone_Scalar:$seed_low, Halftone_Scalar:$seed_high, Halftone_Scalar:$step, Halftone_Scalar:$micro_batch);
  let assemblyFormat = "attr-dict `:` type(results)";
}
def Halftone_FlatParametersOp : Halftone_Op<"flat_parameters", [Pure]> {
  let summary = "All trained parameters as one vector, in the order of their offsets";
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Halftone_FlatWorkingCopiesOp : Halftone_Op<"flat_working_copies", [Pure]> {
  let summary = "The masters in another format, with their layout (M1); `name` is the buffer";
  let arguments = (ins StrAttr:$name);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}
def Halftone_WorkingCopyOp : Halftone_Op<"working_copy", [Pure]> {
  let summary = "One parameter in the buffer of working copies `buffer`, at the parameter's offset";
  let arguments = (ins StrAttr:$parameter, StrAttr:$buffer, I64Attr:$offset);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$parameter `in` $buffer `at` $offset attr-dict `:` type($result)";
}
def Halftone_QuantizedWeightOp : Halftone_Op<"quantized_weight", []> {
  let summary = "A parameter as codes and a scale for each channel (P81), which the host writes. Not pure, as parameter";
  let description = [{
    Channels are counted along `dimension`. Codes lie in the buffer of their element, scales in one for all, each at its offset.
    ```mlir
    %q, %s = halftone.quantized_weight "fc.weight" at 0, 0 {dimension = 0 : i64}
        : !halftone.tensor<[8, 4], si8>, !halftone.tensor<[8], f32>
    ```
  }];
  let arguments = (ins StrAttr:$parameter, I64Attr:$codes_offset, I64Attr:$scales_offset, I64Attr:$dimension, UnitAttr:$least_error);
  let results = (outs Halftone_AnyTensor:$codes, Halftone_AnyTensor:$scales);
  let assemblyFormat = "$parameter `at` $codes_offset `,` $scales_offset attr-dict `:` type($codes) `,` type($scales)";
  let hasVerifier = 1;
}
def Halftone_AccumulatedOp : Halftone_Op<"accumulated", [Pure]> {
  let summary = "The sum of the flat gradients of earlier micro-batches (M4)";
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===--- Layers and losses ---===//

include "Layers.td"
include "Primitives.td"

//===--- Gradients ---===//

def Halftone_ExternalGradientOp : Halftone_SourceOp<"external_gradient"> {
  let summary = "The gradient of an output that a caller gives, f32 (P36)";
}
def Halftone_OutputGradientOp : Halftone_Op<"output_gradient", [Pure]> {
  let summary = "The gradient of an output, from the losses or, assigned in phase external, from a caller";
  let arguments = (ins StrAttr:$name, Halftone_AnyTensor:$x);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$name `,` $x attr-dict `:` functional-type(operands, results)";
}

def Halftone_HandOnOp : Halftone_TensorOp<"hand_on"> {
  let summary = "A gradient that an operation hands on as it is (D45): only its rounding points matter, InsertCasts removes it";
  let arguments = (ins Halftone_AnyTensor:$x);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Halftone_GradientOp : Halftone_Op<"gradient"> {
  let summary = "What BuildBackward found for a parameter; BuildUpdate consumes it";
  let arguments = (ins Halftone_AnyTensor:$parameter, Halftone_AnyTensor:$x);
  let assemblyFormat = "$x `of` $parameter attr-dict `:` functional-type(operands, results)";
}

//===--- Precision and update ---===//

def Halftone_FlattenOp : Halftone_Op<"flatten"> {
  let summary = "All gradients as one vector: each is stored in its place by its producer";
  let arguments = (ins Variadic<Halftone_AnyTensor>:$parts, DenseI64ArrayAttr:$offsets);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$parts `at` $offsets attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Halftone_ScheduleOp : Halftone_Op<"schedule", [SingleBlock, IsolatedFromAbove]> {
  let summary = "The learning rate's factor as a function of the updates before (U3); BuildUpdate consumes it";
  let description = [{
    ```mlir
    halftone.schedule {
    ^bb0(%updates: f32):
      %least = arith.constant 1.0 : f32
      %next = arith.addf %updates, %least : f32
      %factor = math.rsqrt %next : f32
      halftone.yield %factor : f32
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Halftone_OwnValueOp : Halftone_Op<"own_value", [SingleBlock, IsolatedFromAbove]> {
  let summary = "What an element or one of its states becomes under a user's optimizer (U14); BuildUpdate consumes it";
  let description = [{
    Of the element's value, gradient, learning rate, weight decay, the updates before and its states.
    ```mlir
    halftone.own_value "momentum" {
    ^bb0(%parameter: f32, %gradient: f32, %rate: f32, %decay: f32, %updates: f32, %momentum: f32):
      %next = arith.addf %momentum, %gradient : f32
      halftone.yield %next : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name attr-dict-with-keyword $body";
}

//===--- Sinks ---===//

class Halftone_NamedSinkOp<string mnemonic, string text> : Halftone_Op<mnemonic> {
  let summary = text;
  let arguments = (ins StrAttr:$name, Halftone_AnyTensor:$x);
  let assemblyFormat = "$name `,` $x attr-dict `:` type($x)";
}
def Halftone_OutputOp : Halftone_NamedSinkOp<"output", "A value that the caller reads after the forward phase">;
def Halftone_InputGradientOp : Halftone_NamedSinkOp<"input_gradient", "The gradient of input `name`, which the caller reads after the backward phase (D15)">;
def Halftone_StatisticOp : Halftone_NamedSinkOp<"statistic", "A scalar that the host reads after a step">;
def Halftone_AmaxOp : Halftone_NamedSinkOp<"amax", "The largest magnitude that a pass rounds under the delayed scale `name` (P72); BuildUpdate consumes it">;
def Halftone_LossOp : Halftone_Op<"loss"> {
  let summary = "A scalar whose weighted sum with the other losses is minimised";
  let arguments = (ins StrAttr:$name, Halftone_Scalar:$x, F64Attr:$weight);
  let assemblyFormat = "$name `,` $x `weight` $weight attr-dict `:` type($x)";
}
def Halftone_AssignOp : Halftone_Op<"assign"> {
  let summary = "The persistent tensor, or the buffer of a gradient, takes a new value at the end of the phase";
  let arguments = (ins Halftone_AnyTensor:$destination, Halftone_AnyTensor:$x);
  let assemblyFormat = "$x `to` $destination attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- Parts in place (LeavePartsInPlace) ---===//

def Halftone_WholeOp : Halftone_Op<"whole"> {
  let summary = "A tensor whose columns several kernels store, each some: no kernel, all of it lies in one buffer";
  let description = [{
    ```mlir
    %whole = halftone.whole "join" of %up, %skip
        : (!halftone.tensor<[batch, 72], bf16>, !halftone.tensor<[batch, 72], bf16>) -> !halftone.tensor<[batch, 72], bf16>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Halftone_AnyTensor>:$parts);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$name `of` $parts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Halftone_PartOp : Halftone_Op<"part"> {
  let summary = "Columns of x from `offset` on, which kernels read where they lie: it says of a value of the model that it lies there";
  let arguments = (ins Halftone_AnyTensor:$x, I64Attr:$offset);
  let results = (outs Halftone_AnyTensor:$result);
  let assemblyFormat = "$x `from` $offset attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===--- Kernels ---===//

def Halftone_KernelOp : Halftone_Op<"kernel", [SingleBlock, NoTerminator, IsolatedFromAbove, RecursiveMemoryEffects, AttrSizedResultSegments]> {
  let summary = "One launch: a skeleton with scalar code of its own";
  let description = [{
    The domain is a matrix of elements (i, j): rows are the product of all dimensions but the last. The body computes one
    element: its arguments are, for a contraction and attention, first the sum (N1), of a second product the other one; then one scalar
    per operand in order, except matrices. It ends in `kernel_yield`: one scalar per stored result, then the scalars to be summed over the domain (N4;
    of a row kernel: one summand per row; of a contraction magnitudes, whose largest one is meant). `finish` receives those sums, then the Scalar operands, and yields the scalar
    results. Leading axes that a contraction's rhs has beyond its matrix are those of a batch: each of their elements is a
    product of its own. That of a segment kernel also yields `into`: the row of the result that the element is added to,
    which may be none of them. What that of an attention kernel yields for a result of access `values` or `rhs` is what an element of its
    row weighs: the skeleton multiplies it by the operand of that access and sums over the row. For results of access `lhs` and `lhs2`, of
    an attention_columns kernel, it sums over the rows. A body may use column_index, axis_index, element_index, quarter_index, quarter_place, draw, count, and by skeleton row_sum and row_max (row, attention), lhs_sum
    (contraction; a Row result). `accumulation` is how a contraction sums (P21). `cuda_tile` is a tile given by hand,
    which every chip's simt plan then has.
    ```mlir
    %y = halftone.kernel @fc1 contraction over [batch, 128] reduce [64] (%x, %w, %b)
        accesses [#halftone.access<lhs>, #halftone.access<rhs>, #halftone.access<column>] -> [#halftone.access<full>]
        {transpose_rhs} : (...) -> (...) {
      ^bb0(%sum: f32, %bias: f32):
        %r = arith.addf %sum, %bias : f32
        halftone.kernel_yield stores %r : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Halftone_SkeletonAttr:$skeleton, ArrayAttr:$domain, ArrayAttr:$reduction,
                       Variadic<Halftone_AnyTensor>:$inputs, Halftone_AccessArray:$input_accesses,
                       Halftone_AccessArray:$result_accesses, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
                       StrArrayAttr:$fused, OptionalAttr<DenseI64ArrayAttr>:$cpu_tile,
                       OptionalAttr<DenseI64ArrayAttr>:$cuda_tile, OptionalAttr<Halftone_ChipPlansArray>:$cuda_plans,
                       DefaultValuedAttr<Halftone_AccumulationAttr, "::halftone::ir::Accumulation::F32">:$accumulation);
  let results = (outs Variadic<Halftone_AnyTensor>:$stored, Variadic<Halftone_Scalar>:$finished);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$finish);
  let assemblyFormat = [{
    $name $skeleton `over` $domain `reduce` $reduction `(` $inputs `)` `accesses` $input_accesses `->` $result_accesses
    `fused` $fused attr-dict `:` functional-type(operands, results) $body (`finish` $finish^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The domain as a type (its element type means nothing).
    TensorType getDomainType();
    /// Nothing where it is a symbol.
    std::optional<int64_t> getColumns() { return getDomainType().getColumns(); }
    AccessAttr getInputAccess(unsigned i) { return ::mlir::cast<AccessAttr>(getInputAccesses()[i]); }
    AccessAttr getResultAccess(unsigned i) { return ::mlir::cast<AccessAttr>(getResultAccesses()[i]); }
    /// The leading axes whose every element is a contraction, or a sum over rows, of its own.
    ::llvm::ArrayRef<::mlir::Attribute> getBatchDims();
    /// Whether the body receives a sum over reduced dimensions.
    bool hasSum() { return !getReduction().empty(); }
    /// How many sums the body receives: one, or with an operand of access Rhs2 two.
    unsigned countSums();
    bool hasFinish() { return !getFinished().empty(); }
    /// The body's argument for input i, null for matrices.
    ::mlir::Value getElement(unsigned i);
    KernelYieldOp getYield();
    YieldOp getFinishYield();
  }];
}
def Halftone_KernelYieldOp : Halftone_Op<"kernel_yield", [Pure, Terminator, AttrSizedOperandSegments]> {
  let arguments = (ins Variadic<AnyType>:$stores, Variadic<AnyType>:$sums, Optional<I32>:$into);
  let assemblyFormat = "(`stores` $stores^ `:` type($stores))? (`sums` $sums^ `:` type($sums))? (`into` $into^)? attr-dict";
}
def Halftone_YieldOp : Halftone_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

//===--- Scalar operations inside bodies ---===//

class Halftone_ScalarOp<string mnemonic, string text> : Halftone_Op<mnemonic, [Pure]> { let summary = text; }
class Halftone_UnaryScalarOp<string mnemonic, string text> : Halftone_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = text;
  let arguments = (ins AnyFloat:$x);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def Halftone_RowSumOp : Halftone_UnaryScalarOp<"row_sum", "The sum over the row by the row tree N2">;
def Halftone_RowMaxOp : Halftone_UnaryScalarOp<"row_max", "The maximum of the row (N2, N5)">;
def Halftone_SigmoidOp : Halftone_UnaryScalarOp<"sigmoid", "1 / (1 + exp(-x)), a recipe of math.md"> {
  let description = [{ `math` has no such operation; ExpandMath turns it into its recipe. }];
}
def Halftone_RecipeOp : Halftone_Op<"recipe", [Pure, SameOperandsAndResultType]> {
  let summary = "A function of math.md in its full grade, or with `narrow` in the other (N10)";
  let arguments = (ins Halftone_FunctionAttr:$function, AnyFloat:$x, UnitAttr:$narrow);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$function $x attr-dict `:` type($x)";
}
def Halftone_DrawOp : Halftone_ScalarOp<"draw", "The word that a layer draws for the element (D35)"> {
  let description = [{ Its operands are counters; ExpandMath turns it into N9. }];
  let arguments = (ins StrAttr:$layer, I32:$seed_low, I32:$seed_high, I32:$step, I32:$micro_batch);
  let results = (outs I32:$result);
  let assemblyFormat = "$layer `by` $seed_low `,` $seed_high `,` $step `,` $micro_batch attr-dict `:` type($result)";
}
def Halftone_KeptOp : Halftone_ScalarOp<"kept", "Its operand, a condition under which the element counts"> {
  let description = [{
    Where it is false the element adds nothing: -infinity to a maximum of its row, +0 to a sum, +0 to what it weighs. So attention
    kernels leave out blocks of elements none of which is kept; FormKernels takes it out of the code of all other kernels.
  }];
  let arguments = (ins I1:$keeps);
  let results = (outs I1:$result);
  let assemblyFormat = "$keeps attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Halftone_LhsSumOp : Halftone_ScalarOp<"lhs_sum", "The sum over k of the contraction's lhs, by the column tree N3"> {
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Halftone_ColumnIndexOp : Halftone_ScalarOp<"column_index", "j as i32"> {
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Halftone_AxisIndexOp : Halftone_ScalarOp<"axis_index", "Where the element lies along axis `axis` of the domain, as i32"> {
  let description = [{ Of all axes but the last it is the same for a whole row, and computed once. }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Halftone_ElementIndexOp : Halftone_ScalarOp<"element_index", "i * columns + j as i64"> {
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Halftone_QuarterIndexOp : Halftone_ScalarOp<"quarter_index", "element_index / 4, rounded down"> {
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Halftone_QuarterPlaceOp : Halftone_ScalarOp<"quarter_place", "element_index mod 4 as i32"> {
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Halftone_IntegerOp : Halftone_ScalarOp<"integer", "The number of a delivered integer as i32, -1 of one that i32 does not hold (D16), or exactly as f32"> {
  let description = [{ Not arith's: its folders join a conversion to f32 and a rounding, and forget how that rounds. }];
  let arguments = (ins AnyTypeOf<[UI8, SI8, UI16, SI16, SI64]>:$x);
  let results = (outs AnyTypeOf<[F32, I32]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}
def Halftone_Low16Op : Halftone_ScalarOp<"low16", "The integer of 16 bits that an i32 is, whose higher bits say no more than its sign"> {
  let arguments = (ins I32:$x);
  let results = (outs SI16:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}
def Halftone_CountOp : Halftone_ScalarOp<"count", "The product of the dimensions, as i32 or as a float: exact below 2^24, else nearest"> {
  let arguments = (ins ArrayAttr:$dims);
  let results = (outs AnyTypeOf<[AnyFloat, I32]>:$result);
  let assemblyFormat = "$dims attr-dict `:` type($result)";
}

#endif

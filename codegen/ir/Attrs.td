// SPDX-License-Identifier: Apache-2.0
// Enumerations and attributes of the dialect: phases, accesses, formats, places in memory.
#ifndef HALFTONE_ATTRS_TD
#define HALFTONE_ATTRS_TD

include "Dialect.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

class Halftone_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::halftone::ir";
  let genSpecializedAttr = 0;
}

def Halftone_Phase : Halftone_Enum<"Phase", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Loss", 1, "loss">,
    I32EnumAttrCase<"LossBackward", 2, "loss_backward">, I32EnumAttrCase<"Backward", 3, "backward">,
    I32EnumAttrCase<"Accumulate", 4, "accumulate">, I32EnumAttrCase<"Check", 5, "check">,
    I32EnumAttrCase<"Update", 6, "update">, I32EnumAttrCase<"Refresh", 7, "refresh">,
    I32EnumAttrCase<"External", 8, "external">]>;
def Halftone_PhaseAttr : EnumAttr<Halftone_Dialect, Halftone_Phase, "phase"> { let assemblyFormat = "`<` $value `>`"; }

def Halftone_Pass : Halftone_Enum<"ContractionPass", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"InputGradient", 1, "input_gradient">,
    I32EnumAttrCase<"WeightGradient", 2, "weight_gradient">]>;
def Halftone_PassAttr : EnumAttr<Halftone_Dialect, Halftone_Pass, "pass"> { let assemblyFormat = "`<` $value `>`"; }

def Halftone_Skeleton : Halftone_Enum<"Skeleton", [
    I32EnumAttrCase<"Pointwise", 0, "pointwise">, I32EnumAttrCase<"Row", 1, "row">,
    I32EnumAttrCase<"Column", 2, "column">, I32EnumAttrCase<"Flat", 3, "flat">,
    I32EnumAttrCase<"Contraction", 4, "contraction">, I32EnumAttrCase<"Segment", 5, "segment">,
    I32EnumAttrCase<"Attention", 6, "attention">, I32EnumAttrCase<"AttentionColumns", 7, "attention_columns">,
    I32EnumAttrCase<"Transform", 8, "transform">, I32EnumAttrCase<"InverseTransform", 9, "inverse_transform">,
    I32EnumAttrCase<"TransformPass", 10, "transform_pass">, I32EnumAttrCase<"InverseTransformPass", 11, "inverse_transform_pass">,
    I32EnumAttrCase<"ConvolutionPass", 12, "convolution_pass">, I32EnumAttrCase<"CorrelationPass", 13, "correlation_pass">,
    I32EnumAttrCase<"SegmentMax", 14, "segment_max">]>;
def Halftone_SkeletonAttr : EnumAttr<Halftone_Dialect, Halftone_Skeleton, "skeleton"> { let assemblyFormat = "$value"; }

// The classes of affine maps from a kernel's axes to an operand's or a result's dimensions (Accesses.h): those with
// loops of their own, and all others. i stands for all axes but the last, k for the reduced ones, b for those of a batch; c is no axis.
def Halftone_AccessKind : Halftone_Enum<"AccessKind", [
    I32EnumAttrCase<"Full", 0, "full">,       // (i, j) -> (i, j)
    I32EnumAttrCase<"Window", 1, "window">,   // (i, j) -> (i, j + offset), zero outside of the operand's columns; as a result: columns of a wider tensor
    I32EnumAttrCase<"Column", 2, "column">,   // (i, j) -> (j); as a result: the sum over i, or (b, i, j) -> (b, j)
    I32EnumAttrCase<"Row", 3, "row">,         // (i, j) -> (i)
    I32EnumAttrCase<"Scalar", 4, "scalar">,   // (i, j) -> ()
    I32EnumAttrCase<"Lhs", 5, "lhs">,         // (b, i, j, k) -> (b, i, k), transposed (b, k, i); as a result: (b, j, k), the sum over i of products with it
    I32EnumAttrCase<"Rhs", 6, "rhs">,         // (b, i, j, k) -> (b, k, j), transposed (b, j, k); as a result: (b, i, k), the sum over j of products with it
    I32EnumAttrCase<"General", 7, "general">,
    I32EnumAttrCase<"Start", 9, "start">,     // (i, j) -> (i, j), of a contraction: what its chains begin with, where its result lies
    I32EnumAttrCase<"Values", 10, "values">,  // (b, i, j) -> (b, j, c); as a result: (b, i, c), the sum over j of products with it
    I32EnumAttrCase<"Lhs2", 11, "lhs2">,      // of a second product: (b, i, j) -> (b, i, c); as a result: (b, j, c), the sum over i of products with it
    I32EnumAttrCase<"Rhs2", 12, "rhs2">,      // likewise: (b, i, j) -> (b, j, c)
    I32EnumAttrCase<"Turns", 13, "turns">,    // what transforms multiply by: all of it, for every element
    I32EnumAttrCase<"Transformed", 14, "transformed">, // as a result alone: a sequence's spectrum, the sequence of one, or a spectrum that was worked on
    I32EnumAttrCase<"LhsScales", 16, "lhs_scales">, // of a scaled_contract, by a map: the scale that lhs's element is multiplied by
    I32EnumAttrCase<"RhsScales", 17, "rhs_scales">, // likewise rhs's
    I32EnumAttrCase<"Factor", 15, "factor">, // of a convolution_pass: the other spectrum, all of it, for every element
    I32EnumAttrCase<"Segment", 8, "segment">]>; // as a result alone: (i, j) -> (the row that the body names, j), a sum over i, or the largest
def Halftone_AccessAttr : AttrDef<Halftone_Dialect, "Access"> {
  let mnemonic = "access";
  let summary = "How a kernel addresses an operand or result: the class of its affine map, and of a general one the map";
  let description = [{
    `offset` counts columns and is used by windows alone. A general access reads zero where its map leaves the operand
    and where `where` does not hold (a set with `>=` wants an alias). Its map's symbols are values of integer operands,
    `through` their numbers: a gather; and behind these `lengths` of dimensions.
    ```mlir
    #halftone.access<window, -4>
    #halftone.access<general reads affine_map<(b, i, j) -> (b, j, i)>>
    #halftone.access<general reads affine_map<(i, j)[t] -> (t, j)> through [1]>
    #halftone.access<general reads affine_map<(i, j)[n] -> (-i + 2 * n, j)> lengths ["4*side"]>
    #halftone.access<general reads affine_map<(i, j) -> (i floordiv 2, j)> where affine_set<(i, j) : (i mod 2 == 0)>>
    ```
  }];
  let parameters = (ins EnumParameter<Halftone_AccessKind>:$kind, DefaultValuedParameter<"int64_t", "0">:$offset,
                        OptionalParameter<"::mlir::AffineMapAttr">:$map, OptionalParameter<"::mlir::IntegerSetAttr">:$where,
                        OptionalArrayRefParameter<"int64_t">:$indices,
                        OptionalArrayRefParameter<"::mlir::Attribute">:$lengths);
  let assemblyFormat = [{
    `<` $kind (`,` $offset^)? (`reads` $map^)? (`where` $where^)? (`through` `[` $indices^ `]`)? (`lengths` `[` $lengths^ `]`)? `>`
  }];
  let builders = [AttrBuilder<(ins "AccessKind":$kind, CArg<"int64_t", "0">:$offset), [{
    return $_get($_ctxt, kind, offset, ::mlir::AffineMapAttr(), ::mlir::IntegerSetAttr(), ::llvm::ArrayRef<int64_t>(),
                 ::llvm::ArrayRef<::mlir::Attribute>());
  }]>, AttrBuilder<(ins "AccessKind":$kind, "int64_t":$offset, "::mlir::AffineMapAttr":$map, "::mlir::IntegerSetAttr":$where,
                        "::llvm::ArrayRef<int64_t>":$indices), [{
    return $_get($_ctxt, kind, offset, map, where, indices, ::llvm::ArrayRef<::mlir::Attribute>());
  }]>];
  let extraClassDeclaration = [{
    /// Whether its map reads nothing but axes.
    bool isOfAxes() const { return getIndices().empty() && getLengths().empty(); }
  }];
}
def Halftone_AccessArray : TypedArrayAttrBase<Halftone_AccessAttr, "array of accesses">;

def Halftone_InitializerKind : Halftone_Enum<"InitializerKind", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Uniform", 1, "uniform">,
    I32EnumAttrCase<"Normal", 2, "normal">, I32EnumAttrCase<"TruncatedNormal", 3, "truncated_normal">,
    I32EnumAttrCase<"Orthogonal", 4, "orthogonal">]>;
def Halftone_InitializerAttr : AttrDef<Halftone_Dialect, "Initializer"> {
  let mnemonic = "initializer";
  let parameters = (ins EnumParameter<Halftone_InitializerKind>:$kind, "::mlir::FloatAttr":$first, "::mlir::FloatAttr":$second,
                        OptionalParameter<"::mlir::FloatAttr">:$low, OptionalParameter<"::mlir::FloatAttr">:$high);
  let assemblyFormat = "`<` $kind `,` $first `,` $second (`,` $low^ `,` $high)? `>`";
}

def Halftone_Function : Halftone_Enum<"Function", [ // of math.md, of which `math` has none or not in both grades
    I32EnumAttrCase<"Exp", 0, "exp">, I32EnumAttrCase<"Tanh", 1, "tanh">, I32EnumAttrCase<"Sigmoid", 2, "sigmoid">,
    I32EnumAttrCase<"GeluErf", 3, "gelu_erf">, I32EnumAttrCase<"GeluErfDerivative", 4, "gelu_erf_derivative">,
    I32EnumAttrCase<"GeluTanh", 5, "gelu_tanh">, I32EnumAttrCase<"GeluTanhDerivative", 6, "gelu_tanh_derivative">,
    I32EnumAttrCase<"Silu", 7, "silu">, I32EnumAttrCase<"SiluDerivative", 8, "silu_derivative">]>;
def Halftone_FunctionAttr : EnumAttr<Halftone_Dialect, Halftone_Function, "function"> { let assemblyFormat = "$value"; }

def Halftone_ValueRole : Halftone_Enum<"ValueRole", [ // P2, in the order of description::Role
    I32EnumAttrCase<"Activation", 0, "activation">, I32EnumAttrCase<"Saved", 1, "saved">,
    I32EnumAttrCase<"Gradient", 2, "gradient">, I32EnumAttrCase<"Weight", 3, "weight">,
    I32EnumAttrCase<"WeightGradient", 4, "weight_gradient">]>;
def Halftone_Accumulation : Halftone_Enum<"Accumulation", [ // P21
    I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"Ordered", 1, "ordered">,
    I32EnumAttrCase<"Hardware", 2, "hardware">, I32EnumAttrCase<"Promoted", 3, "promoted">]>;
def Halftone_AccumulationAttr : EnumAttr<Halftone_Dialect, Halftone_Accumulation, "accumulation"> {
  let assemblyFormat = "`<` $value `>`";
}
def Halftone_EncodingParameter : AttrParameter<"::halftone::encoding::Encoding", "what a value is rounded to"> {
  let parser = "::halftone::ir::parseEncoding($_parser)";
  let printer = "::halftone::ir::printEncoding($_printer, $_self)";
}
def Halftone_EncodingAttr : AttrDef<Halftone_Dialect, "Encoding"> {
  let mnemonic = "encoding";
  let summary = "`#halftone.encoding<bf16>`, `#halftone.encoding<f16 toward_zero>`, `#halftone.encoding<f8e4m3 saturate>`";
  let parameters = (ins Halftone_EncodingParameter:$value);
  let assemblyFormat = "`<` $value `>`";
}
def Halftone_RoundingPointAttr : AttrDef<Halftone_Dialect, "RoundingPoint"> {
  let mnemonic = "round";
  let summary = "A place where rules may round a value (P30 to P35): to which encoding, by which rule, and which rules lost";
  let parameters = (ins Halftone_EncodingParameter:$encoding, EnumParameter<Halftone_ValueRole>:$role, DefaultValuedParameter<"int64_t", "-1">:$rule,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$beaten);
  let assemblyFormat = "`<` struct(params) `>`";
}
// The chains of rounding points of one operation, each an array of RoundingPointAttr.
def Halftone_PrecisionAttr : AttrDef<Halftone_Dialect, "Precision"> {
  let mnemonic = "precision";
  let summary = "What every operand is rounded to before use and every result after it, in order";
  let parameters = (ins "::mlir::ArrayAttr":$operands, "::mlir::ArrayAttr":$results,
                        DefaultValuedParameter<"Accumulation", "Accumulation::F32">:$accumulate);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Halftone_RulesAttr : AttrDef<Halftone_Dialect, "Rules"> {
  let mnemonic = "rules";
  let summary = "The precision rules of a model, in order; in text each as the Description spells it";
  let parameters = (ins AttrParameter<"::halftone::ir::RuleList", "rules", "const ::halftone::ir::RuleList &">:$list);
  let hasCustomAssemblyFormat = 1;
}

def Halftone_CudaPlanKind : Halftone_Enum<"CudaPlanKind", [
    I32EnumAttrCase<"Simt", 0, "simt">, I32EnumAttrCase<"Tensor", 1, "tensor">,
    I32EnumAttrCase<"Warpgroup", 2, "warpgroup">, I32EnumAttrCase<"TensorMemory", 3, "tensor_memory">]>;
def Halftone_CudaPlanAttr : AttrDef<Halftone_Dialect, "CudaPlan"> {
  let mnemonic = "plan";
  let summary = "One way to run a kernel on a chip, and what the cost model says of it";
  let description = [{
    `tile` of simt: a contraction's {rows, columns, depth, rows of a thread, columns of a thread}; a column kernel's {columns
    of a block, chunks at once}; a long row's {threads, 1 kept in registers or 2 in shared memory}; all others {threads}. Of tensor: {rows, columns, depth, rows of a warp, columns of a warp,
    stages, bytes that divide lhs's rows, bytes that divide rhs's rows}, of attention {keys at a time}, of attention_columns {rows at a time}. Of warpgroup:
    {rows, columns, stages, 1 where warp groups alternate, rows of tiles in a group}, of attention {keys at a time, warp groups of 64 rows, slots}, of
    attention_columns {rows at a time, warp groups of 64 keys, slots}. Of tensor_memory: {columns, stages, 1 where blocks have scales, rows of tiles in a group}. The sum is split into ceil(depth / least) parts, at
    most `splits`. `cost`: floating-point operations, bytes between chip and memory, waves, microseconds.
    `#halftone.plan<tensor, [128, 128, 32, 64, 32, 4, 16, 16] splits 2 least 512 cost [1.0e9, 2.0e6, 0.5, 12.5]>`
  }];
  let parameters = (ins EnumParameter<Halftone_CudaPlanKind>:$kind, ArrayRefParameter<"int64_t">:$tile,
                        "int64_t":$splits, "int64_t":$least, "::mlir::DenseF64ArrayAttr":$cost);
  let assemblyFormat = "`<` $kind `,` `[` $tile `]` `splits` $splits `least` $least `cost` $cost `>`";
}
// What PlanTiles found for one chip: plans, the chosen one first, and why none is for tensor cores, or nothing; likewise
// why none is for wgmma, and why none multiplies 8 bits.
def Halftone_ChipPlansAttr : AttrDef<Halftone_Dialect, "ChipPlans"> {
  let mnemonic = "chip";
  let parameters = (ins StringRefParameter<"chip">:$chip, ArrayRefParameter<"CudaPlanAttr">:$plans,
                        StringRefParameter<"reason">:$reason, StringRefParameter<"why wgmma runs it not", [{""}]>:$noWarpgroups,
                        StringRefParameter<"why it multiplies no 8 bits", [{""}]>:$noEightBits);
  let assemblyFormat = [{ `<` $chip `,` `[` $plans `]` `,` $reason (`,` `no_warpgroups` $noWarpgroups^)?
                          (`,` `no_eight_bits` $noEightBits^)? `>` }];
}
def Halftone_ChipPlansArray : TypedArrayAttrBase<Halftone_ChipPlansAttr, "array of plans by chip">;

def Halftone_BufferRole : Halftone_Enum<"BufferRole", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Parameters", 1, "parameters">,
    I32EnumAttrCase<"Gradients", 2, "gradients">, I32EnumAttrCase<"OptimizerState", 3, "optimizer_state">,
    I32EnumAttrCase<"State", 4, "state">, I32EnumAttrCase<"Activation", 5, "activation">,
    I32EnumAttrCase<"Output", 6, "output">, I32EnumAttrCase<"OutputGradient", 7, "output_gradient">,
    I32EnumAttrCase<"Loss", 8, "loss">, I32EnumAttrCase<"Hyperparameter", 9, "hyperparameter">,
    I32EnumAttrCase<"Statistic", 10, "statistic">, I32EnumAttrCase<"WorkingCopies", 11, "working_copies">,
    I32EnumAttrCase<"Accumulated", 12, "accumulated">, I32EnumAttrCase<"Counters", 13, "counters">,
    I32EnumAttrCase<"InputGradient", 14, "input_gradient">, I32EnumAttrCase<"Cache", 15, "cache">,
    I32EnumAttrCase<"Remainders", 16, "remainders">, I32EnumAttrCase<"Codes", 17, "codes">,
    I32EnumAttrCase<"Scales", 18, "scales">,
    I32EnumAttrCase<"HostState", 19, "host_state">]>; // the optimizer's, in the host's memory (P91)
def Halftone_BufferAttr : AttrDef<Halftone_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "One buffer of a graph's memory plan";
  let parameters = (ins StringRefParameter<"name">:$name, EnumParameter<Halftone_BufferRole>:$role, "::mlir::Type":$type,
                        "int64_t":$slot, "::mlir::FloatAttr":$initial, OptionalParameter<"::mlir::StringAttr">:$section);
  let assemblyFormat = "`<` $name `,` $role `,` $type `,` `slot` $slot `,` `initial` $initial (`,` `section` $section^)? `>`";
}
// Where values lie: for every result of an operation a buffer of the plan and an offset in elements; a kernel's
// workspace, if it has one, comes last.
def Halftone_PlacesAttr : AttrDef<Halftone_Dialect, "Places"> {
  let mnemonic = "places";
  let parameters = (ins ArrayRefParameter<"int64_t">:$buffers, ArrayRefParameter<"int64_t">:$offsets);
  let assemblyFormat = "`<` `[` $buffers `]` `,` `[` $offsets `]` `>`";
}

#endif

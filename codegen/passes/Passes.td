// SPDX-License-Identifier: Apache-2.0
// The passes between import and emission, in the order of Pipeline.cpp. Each says whether it may change rounding.
#ifndef HALFTONE_PASSES_TD
#define HALFTONE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Halftone_Pass<string argument, string summaryText> : Pass<argument, "::mlir::ModuleOp"> {
  let summary = summaryText;
  let dependentDialects = ["::halftone::ir::HalftoneDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def RoundInternals : Halftone_Pass<"halftone-round-internals", "Decide what layers round internal values to (P39)"> {
  let description = [{
    May change rounding: yes, by decree of the rules. A layer whose internal values some rule rounds gets
    `halftone.rounded_inside = {normalized = #halftone.encoding<bf16>}`; its formula and its gradients round where they
    compute one.
  }];
}

def BuildBackward : Halftone_Pass<"halftone-build-backward", "Append the gradients of all parameters to the training graph"> {
  let description = [{
    May change rounding: no. Follows D40 to D60; a value's gradients are added in reverse order of its users. The gradient
    of an output passes through halftone.output_gradient, where a caller may put one of its own.
  }];
}

def ResolvePrecision : Halftone_Pass<"halftone-resolve-precision", "Give every value a format and record the rule that won"> {
  let description = [{
    May change rounding: yes, by decree of the rules.

    Before: everything is f32. After: on every operation of a layer or loss and of their gradients, the chain of rounding
    points of each operand and result:
    `halftone.precision = #halftone.precision<operands = [[#halftone.round<encoding = bf16, role = activation, rule = 0>]],
    results = [[#halftone.round<encoding = bf16, role = activation, rule = 0>]]>`.
  }];
}

def InsertCasts : Halftone_Pass<"halftone-insert-casts", "Insert the fewest casts that keep every declared rounding point"> {
  let description = [{
    May change rounding: yes, it makes the declared rounding explicit. One cast per value, format and rounding, next to
    the value; a cast that only widens is computed where the value is read.
  }];
}

def ChooseGrades : Halftone_Pass<"halftone-choose-grades", "Take narrow recipes where results are rounded to 16 bits (N10)"> {
  let description = [{
    May change rounding: yes, by N10. Reads of every operation of a layer the rounding points of its results.
  }];
}

def ChooseSaved : Halftone_Pass<"halftone-choose-saved", "Recompute in the backward pass what is cheaper to compute than to keep"> {
  let description = [{
    May change rounding: no. An elementwise forward value that only the backward pass and elementwise or row operations
    there still need, whose operands are kept anyway, is computed again next to its users. With `steps` more is computed
    again than that: so many steps towards less memory are taken of those that `Recomputation.h` finds. The module is
    marked `halftone.recomputation`.
  }];
  let options = [Option<"steps", "steps", "int64_t", "-1", "Steps towards less memory (P67); below 0 none are looked for">,
                 ListOption<"assume", "assume", "std::string", "Sizes of symbols while planning: batch=64">];
}

def BuildUpdate : Halftone_Pass<"halftone-build-update", "Append norm, finite check, clip and optimizer as ordinary operations"> {
  let description = [{
    May change rounding: no. Follows M3, M4, U0 to U9, S1 to S4, L3 and L4. Decides every parameter's offset in the flat buffer.
    Where states lie in the host's memory (P91), the update is cut into parts of at most `part` elements, of parameters that
    are updated alike.
  }];
  let options = [Option<"part", "part", "int64_t", "1 << 22", "The most elements of an update that reads states in the host's memory">];
}

def BuildWorkingCopies : Halftone_Pass<"halftone-build-working-copies", "Let the update write the formats that weights are read in"> {
  let description = [{
    May change rounding: no. Casts of parameters become reads of flat buffers of working copies (M1), which the update
    writes in its launch and phase refresh writes when parameters were given values.
  }];
}

def BuildDiagnosis : Halftone_Pass<"halftone-build-diagnosis", "Copy the training graph, forward to backward, to be run unfused"> {
  let description = [{
    May change rounding: no. The graph `diagnosis` gives every value a place of its own, so that the first one that is not
    finite can be named after a skipped step.
  }];
}

def BuildDecode : Halftone_Pass<"halftone-build-decode", "Let the inference graph go on from keys and values of earlier tokens"> {
  let description = [{
    May change rounding: no. Follows G8 to G12 of docs/spec/generation.md: the graph `inference` becomes `decode`, whose inputs
    are tokens and, for every sequence, `%start` and `%count`; what attention reads of earlier tokens lies in caches. Outputs, and
    what they alone are computed from row by row, are of each sequence's last token.
  }];
}

def LowerLayers : Halftone_Pass<"halftone-lower-layers", "Replace every layer by the primitives that it stands for"> {
  let description = [{
    May change rounding: no. Afterwards a graph computes by map, reduce, contract and cast alone. Primitives carry the
    attributes of their layer; what stays inside of it is marked `halftone.internal`.
  }];
}

def LowerStochasticCasts : Halftone_Pass<"halftone-lower-stochastic-casts", "Let a map draw what a stochastic cast takes (F6, P48)"> {
  let description = [{
    May change rounding: no. The map leaves one of the two neighbours in the cast's format, in f32; the cast, which is nearest even
    from here on, rounds nothing but what lies beyond the largest number.
  }];
}

def ChunkRows : Halftone_Pass<"halftone-chunk-rows", "Mark what runs in chunks of rows, between a linear and its gradients (D74)"> {
  let description = [{
    May change rounding: no. What computes logits, their loss and the gradients that leave them gets the phase `loss` and the
    mark of one section (decisions/0024); the weight's gradient goes on from zeros that are written before.
  }];
  let options = [Option<"forChips", "for-chips", "bool", "false", "Whether kernels for chips are made, too">];
}

def QuantizeWeights : Halftone_Pass<"halftone-quantize-weights", "Let predictors read weights as codes and scales (P82)"> {
  let description = [{
    May change rounding: no, rules have. Parameters that are marked `halftone.quantized` become a quantized_weight: products whose columns
    are its channels read the codes, and a map behind them multiplies their sums by the scales; maps read both; of all else a map makes f32.
  }];
}

def FactorScales : Halftone_Pass<"halftone-factor-scales", "Let products read codes and multiply their sums by scales of f32 (P88)"> {
  let description = [{
    May change rounding: no, rules have. Where a contraction reads what a map makes of codes and scales of f32, it reads codes of f16 as they
    lie, of others a copy in bf16, or in f16 beside such, which has all of them, and a map behind it multiplies the sums by the product of its operands' scales. Numbers that others read stay.
  }];
}

def MultiplyCodes : Halftone_Pass<"halftone-multiply-codes", "Let products of two operands of 8 bits be multiplied as such, where chips do"> {
  let description = [{
    May change rounding: where rules leave the digits of sums to the chip (P21), inside the bounds of N13, N14 and N17. A product of two operands that
    are codes times scales, one for each of its sums, reads the codes where one of the chips multiplies floats of 8 bits; what asks for that and
    does not gets `halftone.no_eight_bits`, why. Where both operands' scales are powers of two of blocks along the sum, and a chip multiplies by
    those, it becomes a scaled_contract; so does one of two operands of f4e2m1 in blocks, also with scales of f8e4m3, whose codes and scales a map
    packs, and under accumulate promoted one of two in blocks with scales of f32, by which sums of 128 products are multiplied. For warp groups a map turns codes that lie across a sum, where the cost model says that 8 bits save more (decisions/0071). The module is marked `halftone.cpu_apart`, and `halftone.chips_apart` with the other chips.
  }];
  let options = [ListOption<"chips", "chips", "std::string", "Chips that kernels are made for: sm_80,sm_89">,
                 Option<"alike", "alike", "bool", "false", "Whether all targets run one program: only where all chips multiply 8 bits">,
                 ListOption<"assume", "assume", "std::string", "Sizes of symbols while planning: batch=64">];
}

def RunInParts : Halftone_Pass<"halftone-run-in-parts", "Mark batched products around a map over rows, which run part by part"> {
  let description = [{
    May change rounding: no. The products of scores and values with what lies between them read and write one matrix of each
    operand, that of one sequence and head, and are the section of a CPU's program that runs once for each of them
    (decisions/0026). What reads the number of its sequence or head, or draws, stays as it is. Where kernels for chips are made,
    too, all stays as it is, and the module is marked `halftone.cpu_apart` where there is such a section.
  }];
  let options = [Option<"forChips", "for-chips", "bool", "false", "Whether kernels for chips are made, too">];
}

def GatherMatrices : Halftone_Pass<"halftone-gather-matrices", "Mark maps that only move what one contraction reads"> {
  let description = [{
    May change rounding: no. A map that leaves elements as they are, such as the windows of a convolution, and the view that makes a
    matrix of them get `halftone.gathered`: the contraction copies its blocks from where the elements were (decisions/0031). Where
    kernels for chips are made, too, those are marked that chips gather (decisions/0037), and the module gets `halftone.cpu_apart` where they
    are others than the CPU's. Of a diagnosis, which shows the results of layers and gradients, what stays inside of these alone.
  }];
  let options = [Option<"forChips", "for-chips", "bool", "false", "Whether kernels for chips are made, too">];
}

def JoinProducts : Halftone_Pass<"halftone-join-products", "Mark batched products around a map over rows that chips run in one kernel"> {
  let description = [{
    May change rounding: in products that rules let sum in any order (P21), inside the bound of class B. What becomes one
    kernel gets `halftone.joined` and, with its skeleton, `halftone.joined_by` (decisions/0027); of the gradient of attention one map
    becomes two, of two kernels, and forward's map gives what both would reduce of a row as it did. A map that looks so and stays a kernel
    of its own gets `halftone.not_joined`, why.
    The module is marked `halftone.cpu_apart`, and `halftone.chips_apart` with those of the chips that run it in kernels apart.
  }];
  let options = [ListOption<"chips", "chips", "std::string", "Chips that kernels are made for: sm_80,sm_90a">];
}

def LeaveHeadsInPlace : Halftone_Pass<"halftone-leave-heads-in-place", "Mark moves of heads that attention's kernels by warp groups need not wait for"> {
  let description = [{
    May change rounding: no. What moves heads before the times for joined products alone gets `halftone.in_place`, and what moves
    sums back, with the cast that rounds them, becomes part of the products' kernel, where all chips have warp groups. Where some
    have, all stays as it is, and the module is marked `halftone.chips_in_place` with those.
  }];
  let options = [ListOption<"chips", "chips", "std::string", "Chips that kernels are made for: sm_80,sm_90a">,
                 ListOption<"assume", "assume", "std::string", "Sizes of symbols while planning: batch=64">];
}

def SplitTransforms : Halftone_Pass<"halftone-split-transforms", "Let chips transform long sequences in passes of many blocks, in shared memory"> {
  let description = [{
    May change rounding: no. From 64 places on `transform` and `inverse_transform` become one pass, or two where a block's memory holds no
    whole spectrum, and what stands between them, a product with another spectrum, joins the middle ones (decisions/0057); the graph `diagnosis` stays as it is. The module is marked `halftone.cpu_apart` where there is one.
  }];
}

def RideMaxima : Halftone_Pass<"halftone-ride-maxima", "Find the largest magnitude of what a product's kernel computes in that kernel"> {
  let description = [{
    May change rounding: no, a maximum knows no order. Maps over rows that leave one number of a tensor become a reduce with a finish,
    marked `halftone.maximum`, where the tensor's elements are computed in the kernel of a product (decisions/0070).
  }];
}

def FormKernels : Halftone_Pass<"halftone-form-kernels", "Group operations into kernels: a skeleton with scalar code of its own"> {
  let description = [{
    May change rounding: no. Afterwards a graph holds sources, kernels and sinks only. The graph `diagnosis` is never
    fused.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "Without it every operation is a kernel of its own">];
}

def ExpandMath : Halftone_Pass<"halftone-expand-math", "Replace math functions by their recipes of docs/spec/math.md"> {
  let description = [{ May change rounding: no, the recipe is the function's definition. }];
}

def RoundFromF32 : Halftone_Pass<"halftone-round-from-f32", "Widen to f32 what is rounded from another narrow format"> {
  let description = [{ May change rounding: no, the widening is exact. }];
}

def LeavePartsInPlace : Halftone_Pass<"halftone-leave-parts-in-place", "Take out kernels that only copy columns of rows, side by side or apart"> {
  let description = [{
    May change rounding: no. What a kernel would put side by side its producers store in their columns of one tensor,
    `halftone.whole`; of what a kernel would take out of rows, `halftone.part`, readers read the columns where they lie
    (decisions/0051). A kernel stays where an operand is no kernel's result or is read otherwise than element by element, and
    where more bytes would be in use at once.
  }];
  let options = [ListOption<"assume", "assume", "std::string", "Sizes of symbols while planning: batch=64">];
}

def PlanTiles : Halftone_Pass<"halftone-plan-tiles", "Choose every kernel's tiles for CPU and CUDA"> {
  let description = [{
    May change rounding: in contractions that rules let sum in any order (P21), inside the bound of class B. Sets cpu_tile
    and, for every chip, cuda_plans: the cost model's choice (`plan/CostModel.h`) and what it beat.
  }];
  let options = [ListOption<"chips", "chips", "std::string", "Chips to plan for: sm_80,sm_90a">,
                 ListOption<"assume", "assume", "std::string", "Sizes of symbols while planning: batch=64">];
}

def PlanMemory : Halftone_Pass<"halftone-plan-memory", "Give every tensor a buffer and every buffer a place in the arena"> {
  let description = [{
    May change rounding: no. Buffers whose lifetimes do not overlap share a slot. The plan is the attribute
    `halftone.buffers` of each graph, read by the artifact's writer. Activations that rules place in the host's memory (P98)
    have two buffers, between which their slots are free: `halftone.stays`. What of them is smaller than `least-stay`, or is
    needed again before the bus could bring it, stays on the device; of kernels without plans for chips, all.
  }];
  let options = [ListOption<"assume", "assume", "std::string", "Sizes of symbols while planning: batch=64">,
                 Option<"leastStay", "least-stay", "int64_t", /*default=*/"1048576", "The fewest bytes of an activation that stays in the host's memory">,
                 Option<"alike", "alike", "bool", /*default=*/"false", "Whether nothing stays there, as of the CPU">];
}

#endif

// SPDX-License-Identifier: Apache-2.0
// The halftone dialect's C++ face: everything that TableGen generates, and the attributes that cut
// across operations.
#ifndef HALFTONE_IR_DIALECT_H
#define HALFTONE_IR_DIALECT_H

#include <numeric>

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "codegen/ir/Encodings.h"
#include "halftone/description/description.hpp"

namespace halftone::ir {

/// The storage of a RulesAttr, compared by value.
struct RuleList {
  std::vector<description::Rule> rules;

  bool operator==(const RuleList &) const = default;
};
llvm::hash_code hash_value(const RuleList &list);

} // namespace halftone::ir

#include "codegen/ir/Dialect.h.inc"
#include "codegen/ir/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/ir/Attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/ir/Types.h.inc"

namespace halftone::ir {

/// What a program that decodes has of earlier times (Continuation.h).
struct Continuation;
/// Whether no time of a result depends on another one of an operand; says on `op` if not.
mlir::LogicalResult keepsTimesApart(mlir::Operation *op, const Continuation &before);

/// Of an operation whose operands have the shape of its first result, or are one value a column or
/// for all.
llvm::SmallVector<AccessAttr> inferOperandAccesses(mlir::Operation *op);

} // namespace halftone::ir

#include "codegen/ir/Interfaces.h.inc"

#define GET_OP_CLASSES
#include "codegen/ir/Ops.h.inc"

namespace halftone::ir {

/// Discardable attributes that any operation of a graph may carry: the layer it belongs to
/// (StringAttr), the layer's kind as the Description spells it (StringAttr), the phase it runs in
/// (PhaseAttr, forward when absent), its formats (PrecisionAttr, set by ResolvePrecision).
inline constexpr llvm::StringLiteral kLayerAttr = "halftone.layer";
inline constexpr llvm::StringLiteral kKindAttr = "halftone.kind";
inline constexpr llvm::StringLiteral kPhaseAttr = "halftone.phase";
inline constexpr llvm::StringLiteral kPrecisionAttr = "halftone.precision";
/// Set by import on a state that one layer keeps and alone reads (D17, UnitAttr).
inline constexpr llvm::StringLiteral kKeptAttr = "halftone.kept";
/// Set by BuildBackward: for every result the parameter or layer whose gradient it is a
/// contribution to (array of StringAttr, empty for a value inside a loss); on a sum of
/// contributions UnitAttr.
inline constexpr llvm::StringLiteral kGradientOfAttr = "halftone.gradient_of";
inline constexpr llvm::StringLiteral kPartialSumAttr = "halftone.partial_sum";
/// What a rule says about recomputing the operation's result (BoolAttr, P16).
inline constexpr llvm::StringLiteral kRecomputeAttr = "halftone.recompute";
/// Set by ChooseSaved on the module where steps towards less memory are looked for (P67):
/// dictionary of `steps`, those that there are; of those that were taken, `layers` (array of
/// StringAttr, in order), whose results are computed again, and `operations`, what that costs;
/// `of_step`, the operations of a step without.
inline constexpr llvm::StringLiteral kRecomputationAttr = "halftone.recomputation";
/// Set by RoundInternals on a layer: what it rounds internal values to (P39), a dictionary of
/// EncodingAttr by their names; f32 for those that are not there.
inline constexpr llvm::StringLiteral kRoundedInsideAttr = "halftone.rounded_inside";
/// Set by ResolvePrecision: on operations, and of all of them on the module, which rules won the
/// fields that are no formats: array of dictionaries of `field` (accumulate, rounding, recompute),
/// `layer`, `role`, `pass`, `setting`, `rule`, `beaten`. RoundInternals adds to the module's what
/// rules store internal values in and how they round them.
inline constexpr llvm::StringLiteral kDecisionsAttr = "halftone.decisions";
/// Set by InsertCasts: on a graph the values that rules speak of (array of dictionaries); on
/// operations and kernels the index of each result in them, -1 for none (DenseI64Array); on a cast
/// that rounds, and on kernels as an array of all inside, a dictionary with `value`, `from`, `to`,
/// `rule`.
inline constexpr llvm::StringLiteral kValuesAttr = "halftone.values";
inline constexpr llvm::StringLiteral kCastAttr = "halftone.cast";
/// Set by BuildUpdate on an optimizer's state, and on the module where masters have remainders
/// (P68, P69): which rule says what it is held in, a dictionary of `rule` and, if any, `beaten`.
inline constexpr llvm::StringLiteral kHeldByAttr = "halftone.held_by";
inline constexpr llvm::StringLiteral kSplitByAttr = "halftone.split_by";
/// Set by BuildUpdate on an optimizer's state that lies in the host's memory (P91).
inline constexpr llvm::StringLiteral kInHostAttr = "halftone.in_host";
/// Set by InsertCasts on a scalar state that is a delayed scale (P72): what is rounded under it
/// (EncodingAttr). BuildUpdate puts in its place where the state lies: a dictionary of `buffer`,
/// the name of a vector's state, `index` and `count`, its elements.
inline constexpr llvm::StringLiteral kDelayedAttr = "halftone.delayed";
inline constexpr llvm::StringLiteral kElementOfAttr = "halftone.element_of";
/// On a flatten of other scalars than gradients: the activation that they make up (StringAttr).
inline constexpr llvm::StringLiteral kFlattenedAttr = "halftone.flattened";
/// Set by ResolvePrecision on a parameter of a graph that does not train: how it is held (P80), a
/// dictionary of `element` (TypeAttr), `least_error` (BoolAttr), `rule` and, if any, `beaten`.
inline constexpr llvm::StringLiteral kQuantizedAttr = "halftone.quantized";
/// Set by BuildUpdate on a graph with such parameters: where the masters of all others lie in its
/// flat buffer, a dictionary of offsets by name, and how long that is (IntegerAttr).
inline constexpr llvm::StringLiteral kMastersAttr = "halftone.masters";
inline constexpr llvm::StringLiteral kMasterElementsAttr = "halftone.master_elements";
/// Set by InsertCasts and LowerStochasticCasts on what a rounding does before its last operation,
/// each of which reads what is rounded first, and on kernels that hold nothing else (UnitAttr).
inline constexpr llvm::StringLiteral kRoundingAttr = "halftone.rounding";
/// On maps that choose among the elements of windows, each of which has one inside (UnitAttr).
inline constexpr llvm::StringLiteral kWindowsAttr = "halftone.windows";
/// On kernels: whether they do nothing but cast (BoolAttr).
inline constexpr llvm::StringLiteral kOnlyCastsAttr = "halftone.only_casts";
/// The name of the graph that is run to find the first value that is not finite.
inline constexpr llvm::StringLiteral kDiagnosis = "diagnosis";
/// The name of the graph that goes on from earlier times, and of the symbol that its caches' rows
/// are counted by.
inline constexpr llvm::StringLiteral kDecode = "decode";
inline constexpr llvm::StringLiteral kCapacity = "capacity";
/// Set by LowerLayers on a primitive that is a part of a layer and does not compute its value,
/// by BuildBackward on one that stays inside of a gradient, and on kernels that hold nothing else
/// (UnitAttr).
inline constexpr llvm::StringLiteral kInternalAttr = "halftone.internal";
/// Set by ChooseSaved on an elementwise operation that every user is to compute inside its own
/// kernel (UnitAttr).
inline constexpr llvm::StringLiteral kInlineAttr = "halftone.inline";
/// On what a loss computes with its logits: how many rows of them may be in memory (D74). Behind
/// ChunkRows on all that runs once per chunk, with kSectionAttr, the loss whose chunks they are.
inline constexpr llvm::StringLiteral kChunkRowsAttr = "halftone.chunk_rows";
inline constexpr llvm::StringLiteral kSectionAttr = "halftone.section";
/// Set by RunInParts with kSectionAttr: the dimensions whose elements are the parts (array).
inline constexpr llvm::StringLiteral kPartsAttr = "halftone.parts";
/// Set by GatherMatrices on a map that only moves elements and on the matrix that it leaves, which
/// one contraction reads from where they were (UnitAttr).
inline constexpr llvm::StringLiteral kGatheredAttr = "halftone.gathered";
/// Set by JoinProducts on what becomes one kernel, the same name on all of it (StringAttr); on a
/// map that looks so and is none, and on its kernel, why (StringAttr).
inline constexpr llvm::StringLiteral kJoinedAttr = "halftone.joined";
inline constexpr llvm::StringLiteral kNotJoinedAttr = "halftone.not_joined";
/// On a product that rules let multiply floats of 8 bits and that does not: why, or nothing where
/// that is the chip (StringAttr).
inline constexpr llvm::StringLiteral kNoEightBitsAttr = "halftone.no_eight_bits";
/// On a kernel of packed codes of 4 bits: how many of them share a scale (IntegerAttr).
inline constexpr llvm::StringLiteral kScalePlacesAttr = "halftone.scale_places";
/// On a kernel of codes in blocks whose scales are factors of parts of sums, N17 (UnitAttr).
inline constexpr llvm::StringLiteral kByFactorsAttr = "halftone.by_factors";
/// Set with kJoinedAttr: the skeleton of that kernel (SkeletonAttr).
inline constexpr llvm::StringLiteral kJoinedByAttr = "halftone.joined_by";
/// Set by JoinProducts on an exp of x - max x, over a row, whose maximum another kernel reduced.
inline constexpr llvm::StringLiteral kOfNonpositiveAttr = "halftone.of_nonpositive";
/// Set by LeaveHeadsInPlace on what moves heads, or rounds what is moved back, and is no kernel of
/// its own: attention's reads and writes heads where they lie (UnitAttr).
inline constexpr llvm::StringLiteral kInPlaceAttr = "halftone.in_place";
/// Of a module planned for several chips: those that alone would be planned otherwise (array).
inline constexpr llvm::StringLiteral kChipsApartAttr = "halftone.chips_apart";
/// Likewise those of which all could leave heads in place (array).
inline constexpr llvm::StringLiteral kChipsInPlaceAttr = "halftone.chips_in_place";
/// Of a module planned for chips, too: planned for the CPU alone it would be another.
inline constexpr llvm::StringLiteral kCpuApartAttr = "halftone.cpu_apart";
/// Set by PlanMemory: on a graph its buffers (array of BufferAttr), on operations where their
/// results lie (PlacesAttr).
inline constexpr llvm::StringLiteral kBuffersAttr = "halftone.buffers";
inline constexpr llvm::StringLiteral kPlacesAttr = "halftone.places";
/// Set by PlanMemory on a graph some of whose activations stay in the host's memory (P98): of each
/// the buffer that the forward pass leaves, then that which the backward pass reads
/// (DenseI64Array).
inline constexpr llvm::StringLiteral kStaysAttr = "halftone.stays";
/// On a training graph, when some loss reads no output: that loss's name.
inline constexpr llvm::StringLiteral kLossWithoutOutputAttr = "halftone.loss_without_output";
/// On the module, set by import: the model's name (StringAttr); the precision rules
/// (RulesAttr); where layers and parameters stand, when rules have bounds (dictionary of
/// contractions before and behind, depth and elements, P60); the target that rules are resolved for
/// (StringAttr, "cpu" when absent), and the stage (StringAttr, absent where the model declares
/// none, P66); the optimizer (dictionary with `kind` and its numbers); the
/// largest gradient norm and the largest size of a gradient's element (F64, absent without clips);
/// of clips of groups an array of dictionaries, `norm` and `parameters`, their names (U2);
/// the loss scale (dictionary with `kind` and its numbers, absent without one).
inline constexpr llvm::StringLiteral kModelAttr = "halftone.model";
inline constexpr llvm::StringLiteral kRulesAttr = "halftone.rules";
inline constexpr llvm::StringLiteral kRulePlacesAttr = "halftone.rule_places";
inline constexpr llvm::StringLiteral kTargetAttr = "halftone.target";
inline constexpr llvm::StringLiteral kStageAttr = "halftone.stage";
inline constexpr llvm::StringLiteral kLossScaleAttr = "halftone.loss_scale";
inline constexpr llvm::StringLiteral kOptimizerAttr = "halftone.optimizer";
inline constexpr llvm::StringLiteral kClipAttr = "halftone.clip";
inline constexpr llvm::StringLiteral kClipGroupsAttr = "halftone.clip_groups";
inline constexpr llvm::StringLiteral kClipValueAttr = "halftone.clip_value";
inline constexpr llvm::StringLiteral kAverageAttr = "halftone.average";
/// On the module, set by BuildUpdate where the update takes norms of parts of the flat buffers
/// (U15): their parameters begin at multiples of so many elements.
inline constexpr llvm::StringLiteral kParameterAlignmentAttr = "halftone.parameter_alignment";
/// kParameterAlignmentAttr's, or 32.
int64_t getParameterAlignment(mlir::ModuleOp module);

/// Names of the buffers of an output and of its gradient: an output may have the name of another
/// node.
std::string outputBuffer(llvm::StringRef output);
std::string outputGradientBuffer(llvm::StringRef output);
std::string inputGradientBuffer(llvm::StringRef input);
/// Of what a state was before the step whose micro-batches move it on (S4).
std::string stateBeforeStepBuffer(llvm::StringRef state);
bool isStateBeforeStep(llvm::StringRef buffer);

Phase getPhase(mlir::Operation *op);
void setPhase(mlir::Operation *op, Phase phase);
llvm::StringRef getLayer(mlir::Operation *op);

/// What scalar code has for an element of the tensor: of an input, which has the element that it is
/// delivered in until InsertCasts, f32, or i32 of labels and tokens.
mlir::Type codeTypeOf(mlir::Value tensor);
/// Whether a tensor's elements are floats of some format, or integers that are read as values.
inline bool isFloat(mlir::Value value) { return mlir::isa<mlir::FloatType>(codeTypeOf(value)); }
/// Whether it is an input of integers that nothing computes with as they are.
inline bool isDelivered(mlir::Value value) {
  return isDelivered(mlir::cast<TensorType>(value.getType()).getElementType());
}
/// Whether `op` is a cast that rounds nothing; false for null.
bool isExactCast(mlir::Operation *op);
/// Whether `op` is no kernel: its result lies where its operand does, under another shape.
bool isView(mlir::Operation *op);
/// The value that `value` is a view of, through all views between them; itself if it is none.
mlir::Value getViewed(mlir::Value value);
/// Whether `op` sums over rows what its one operand holds.
bool isColumnSum(mlir::Operation *op);
/// How a layer or a primitive addresses its operands; empty for all else.
llvm::SmallVector<AccessAttr> getOperandAccesses(mlir::Operation *op);
/// Whether `op` reads operand `i` as a matrix whose products it sums.
bool readsMatrix(mlir::Operation *op, unsigned i);
/// Whether the value is a weight's codes (P81), under whatever shape.
bool isCodes(mlir::Value value);
/// Whether one of the matrices that the kernel multiplies is.
bool multipliesCodes(KernelOp kernel);

/// Whether tensors of these dimensions have as many elements, whatever symbols are bound to (D36).
bool haveAsManyElements(llvm::ArrayRef<mlir::Attribute> a, llvm::ArrayRef<mlir::Attribute> b);
/// Whether `op` is a map that yields its one operand's elements as they are.
bool movesElements(mlir::Operation *op);
/// Whether `op` says where in the domain the element of a body is.
bool isOfPlace(mlir::Operation *op);
/// Whether `op` is an exp of x - max x, over a row.
bool isExpBelowMaximum(mlir::Operation *op);

/// What a symbol of a dimension stands for: factor * ceil(what `name` is bound to / divisor) +
/// added, as manifests have it.
struct SymbolicExtent {
  llvm::StringRef name;
  int64_t divisor = 1, factor = 1, added = 0;

  /// The largest number that is known to divide it.
  int64_t knownDivisor() const { return std::gcd(factor, added); }
};
SymbolicExtent symbolicExtentOf(llvm::StringRef symbol);
/// `batch`, `4*side`, `4*side + 2` or `batch ceildiv 32`.
mlir::StringAttr symbolOf(mlir::MLIRContext *context, const SymbolicExtent &extent);
/// How many parts of `size` a dimension has, the last of them shorter: a number or, of a symbol,
/// the symbol `batch ceildiv 32`. Of 3*side and of sums there may be a part or two more, which are
/// empty.
mlir::Attribute countParts(mlir::Attribute dim, int64_t size);
/// A dimension `times` as long.
mlir::Attribute repeatDim(mlir::Attribute dim, int64_t times);
/// One with `number` places more.
mlir::Attribute lengthenDim(mlir::Attribute dim, int64_t number);

/// The product of `dims` when all are numbers.
std::optional<int64_t> getStaticProduct(llvm::ArrayRef<mlir::Attribute> dims);

/// "batch x 64", for people.
std::string formatDims(llvm::ArrayRef<mlir::Attribute> dims);

} // namespace halftone::ir

#endif

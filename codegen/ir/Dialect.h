// SPDX-License-Identifier: Apache-2.0
// The halftone dialect's C++ face: everything that TableGen generates, and the attributes that cut
// across operations.
#ifndef HALFTONE_IR_DIALECT_H
#define HALFTONE_IR_DIALECT_H

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

#include "codegen/ir/Dialect.h.inc"
#include "codegen/ir/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/ir/Attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/ir/Types.h.inc"

#include "codegen/ir/Interfaces.h.inc"

#define GET_OP_CLASSES
#include "codegen/ir/Ops.h.inc"

namespace halftone::ir {

/// Discardable attributes that any operation of a graph may carry: the layer it belongs to
/// (StringAttr), the layer's kind (StringAttr), the phase it runs in (PhaseAttr, forward when
/// absent), its formats (PrecisionAttr).
inline constexpr llvm::StringLiteral kLayerAttr = "halftone.layer";
inline constexpr llvm::StringLiteral kPhaseAttr = "halftone.phase";
inline constexpr llvm::StringLiteral kPrecisionAttr = "halftone.precision";
/// Set by ChooseSaved on an elementwise operation that every user is to compute inside its own
/// kernel (UnitAttr).
inline constexpr llvm::StringLiteral kInlineAttr = "halftone.inline";
/// Set by PlanMemory: on a graph its buffers (array of BufferAttr), on operations where their
/// results lie (PlacesAttr).
inline constexpr llvm::StringLiteral kBuffersAttr = "halftone.buffers";
inline constexpr llvm::StringLiteral kPlacesAttr = "halftone.places";
/// On a training graph, when some loss reads no output: that loss's name.
inline constexpr llvm::StringLiteral kLossWithoutOutputAttr = "halftone.loss_without_output";
/// On the module, set by import: the model's name (StringAttr); the precision rules (array of
/// dictionaries with `layer` and any of `store`, `compute`, `accumulate`, `master`); the optimizer
/// (dictionary with `kind` and its numbers); the largest gradient norm (F64, absent without clip).
inline constexpr llvm::StringLiteral kModelAttr = "halftone.model";
inline constexpr llvm::StringLiteral kRulesAttr = "halftone.rules";
inline constexpr llvm::StringLiteral kOptimizerAttr = "halftone.optimizer";
inline constexpr llvm::StringLiteral kClipAttr = "halftone.clip";

/// Names of the buffers of an output and of its gradient: an output may have the name of another
/// node.
std::string outputBuffer(llvm::StringRef output);
std::string outputGradientBuffer(llvm::StringRef output);

Phase getPhase(mlir::Operation *op);
void setPhase(mlir::Operation *op, Phase phase);
llvm::StringRef getLayer(mlir::Operation *op);

/// The product of `dims` when all are numbers.
std::optional<int64_t> getStaticProduct(llvm::ArrayRef<mlir::Attribute> dims);

/// "batch x 64", for people.
std::string formatDims(llvm::ArrayRef<mlir::Attribute> dims);

} // namespace halftone::ir

#endif

// SPDX-License-Identifier: Apache-2.0
// How layers go on from earlier times, in the program that decodes: G8 to G12 of
// docs/spec/generation.md.
#ifndef HALFTONE_IR_CONTINUATION_H
#define HALFTONE_IR_CONTINUATION_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

struct Continuation {
  mlir::Attribute batch, time; ///< symbols of the tokens, which are the new ones
  mlir::Value positions;       ///< [batch, time], i32: where a token stands, -1 where there is none
  mlir::Value sources; ///< [batch, capacity], i32: the new time that a cache's row is, or -1

  /// Whether rows of `type` are the tokens.
  bool leads(TensorType type) const;
  /// Whether it is [batch, time, ...], in which no other dimension is the time.
  bool hasTimesInFront(TensorType type) const;

  /// A cache of x with the new times in their rows, which layer `layer` reads in the place of x.
  mlir::Value remember(mlir::OpBuilder &builder, mlir::Operation *layer, llvm::StringRef what,
                       mlir::Value x) const;

  /// The type with one time of each sequence, [batch, 1, ...].
  TensorType ofLast(TensorType type) const;
  /// Of x, [batch, time] or [batch, time, columns], each sequence's row at the new time that
  /// `last`, [batch, 1], says.
  mlir::Value takeLast(mlir::OpBuilder &builder, mlir::Value x, mlir::Value last) const;
};

/// Says that the layer cannot go on from earlier times, and why.
llvm::LogicalResult refuseToContinue(mlir::Operation *layer, const llvm::Twine &why);

/// Whether a layer that counts the times of x can take the tokens' positions; says on it if not.
llvm::LogicalResult countsTimes(mlir::Operation *layer, mlir::Value x, mlir::Value position,
                                const Continuation &before);

} // namespace halftone::ir

#endif

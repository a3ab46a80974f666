// SPDX-License-Identifier: Apache-2.0
// What rules hold the optimizer's states in (P68, P86): f32 when the update reads them, rounded
// when it leaves them.
#ifndef HALFTONE_PASSES_HELDSTATES_H
#define HALFTONE_PASSES_HELDSTATES_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

class HeldStates {
public:
  /// Asks the module's rules, and notes on it which of them round.
  explicit HeldStates(mlir::ModuleOp module);

  Element element() const { return encoding.element; }
  /// How many neighbours share a scale (P86); 0 without scales.
  int64_t block() const { return encoding.scaling.size; }
  /// Whether what outlasts a step lies in the host's memory (P91).
  bool inHost() const { return isInHost; }
  /// Notes on a state that it lies there, if it does.
  mlir::Value place(mlir::Value state) const;
  /// The first value of every element, to the nearest.
  double first(double initial) const;
  /// Notes on a state of that element who says so, and where it lies.
  mlir::Value state(mlir::Value state) const;
  /// A state as f32, inside of the update; of scaled ones the codes.
  mlir::Value read(mlir::OpBuilder &builder, mlir::Value state) const;
  /// The f32 `next` as `state` holds it, drawn by the state's name where that is asked for (P48);
  /// of scaled ones `next` is a multiple of the scale.
  mlir::Value round(mlir::OpBuilder &builder, mlir::Value next, mlir::Value state) const;

  /// The scale of the row that `next` is an element of.
  mlir::Value scaleOfRow(Scalars &s, mlir::Value next) const;

private:
  mlir::MLIRContext *context;
  Encoding encoding;
  mlir::DictionaryAttr decision;
  bool isInHost = false;
};

} // namespace halftone::ir

#endif

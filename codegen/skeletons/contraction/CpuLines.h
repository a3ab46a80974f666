// SPDX-License-Identifier: Apache-2.0
// The lines of a matrix that a contraction gathers on the CPU (docs/decisions/0031, 0058): rows of
// lhs, along k, or rows of rhs, along columns. A line is of taps, each of which is so many
// neighbours in memory, or all outside.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPULINES_H
#define HALFTONE_SKELETONS_CONTRACTION_CPULINES_H

#include "codegen/skeletons/contraction/CpuPhase.h"

namespace halftone::skeletons {

using mlir::Value;

class CpuLines {
public:
  /// Of the kernel's operand `input`, an Lhs or Rhs with a map, at an element of the batch, or
  /// null. Where there is a phase, lines are those of it, and their elements counted as it does.
  CpuLines(cpu::Code &code, cpu::Frame &frame, unsigned input, Value element,
           const CpuPhase *phase);

  /// Elements [first, first + count) of a line, of the tap that begins with element `tap`, which
  /// is `tapOfMap` of the access's map.
  struct Part {
    Value tap, first, count, tapOfMap;
  };
  /// Where a part lies, and whether it is inside, else zeros; null where it always is.
  struct Place {
    Value address, inside;
  };

  /// Elements of a tap.
  int64_t tapLength() const { return tap.elements; }
  /// Elements [first, first + count), which are of one tap.
  Part partOf(Value first, Value count) const;
  /// The parts that elements [first, last) of a line are of, in order.
  void eachPart(Value first, Value last, llvm::function_ref<void(const Part &part)> body) const;

  /// The line's places on the axes of the kernel; on others, but the batch's, 0.
  cpu::Values axesOf(Value line) const;
  /// The same for lines [first, last), in order; what differs in the last axis alone is taken apart
  /// once.
  void eachLine(Value first, Value last,
                llvm::function_ref<void(Value line, mlir::ValueRange axes)> body) const;
  Place find(mlir::ValueRange axes, const Part &part) const;

private:
  Value tapOfMap(Value first) const { return phase ? phase->kOfMap(first) : first; }
  /// On the first `count` axes that lines are counted by.
  cpu::Values placesOf(Value line, size_t count) const;

  cpu::Code &code;
  cpu::Frame &frame;
  const CpuPhase *phase;
  unsigned input, firstAxis, elementAxis;
  llvm::ArrayRef<mlir::Attribute> dims; // that lines are counted by
  ir::Tap tap;
  cpu::Values origin; // the axes of line 0
};

} // namespace halftone::skeletons

#endif

// SPDX-License-Identifier: Apache-2.0
// The lines of a matrix that a contraction gathers on the CPU (docs/decisions/0031, 0058): rows of
// lhs, along k, or rows of rhs, along columns. A line is of taps, each of which is so many
// neighbours in memory, or all outside; or of runs of taps that are neighbours, too, of which the
// first or the last ones may be outside.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPULINES_H
#define HALFTONE_SKELETONS_CONTRACTION_CPULINES_H

#include "codegen/skeletons/contraction/CpuPhase.h"

namespace halftone::skeletons {

using mlir::Value;

/// A run of the kernel's operand `input`, an Lhs or Rhs, or a tap where there are no runs; nothing
/// of an operand that lies in memory.
std::optional<ir::Tap> findRunOrTap(ir::KernelOp kernel, unsigned input);

class CpuLines {
public:
  /// Of the kernel's operand `input`, an Lhs or Rhs with a map, at an element of the batch, or
  /// null. Where there is a phase, lines are those of it, and their elements counted as it does.
  CpuLines(cpu::Code &code, cpu::Frame &frame, unsigned input, Value element,
           const CpuPhase *phase);

  /// Elements [first, first + count) of a line, of the run or tap that begins with element `tap`,
  /// which is `tapOfMap` of the access's map.
  struct Part {
    Value tap, first, count, tapOfMap;
  };
  /// Where a part lies, and which of its elements are inside, [from, to); the others are zeros and
  /// must not be read. Null where all are.
  struct Place {
    Value address, from, to;
  };

  /// Elements of a run, or of a tap where there are none.
  int64_t tapLength() const { return tap.elements; }
  /// Elements [first, first + count), which are of one of those.
  Part partOf(Value first, Value count) const;
  /// The parts that elements [first, last) of a line are of, in order.
  void eachPart(Value first, Value last, llvm::function_ref<void(const Part &part)> body) const;

  /// The places of lines [first, last) on the axes of the kernel, in order; on others, but the
  /// batch's, 0. What differs in the last axis alone is taken apart once.
  void eachLine(Value first, Value last,
                llvm::function_ref<void(Value line, mlir::ValueRange axes)> body) const;
  Place find(mlir::ValueRange axes, const Part &part) const;

private:
  Value addressOf(Value index) const;
  Place findInRun(mlir::ValueRange places, const Part &part) const;
  Value tapOfMap(Value first) const { return phase ? phase->kOfMap(first) : first; }
  /// On the first `count` axes that lines are counted by.
  cpu::Values placesOf(Value line, size_t count) const;

  cpu::Code &code;
  cpu::Frame &frame;
  const CpuPhase *phase;
  unsigned input, firstAxis, elementAxis;
  llvm::ArrayRef<mlir::Attribute> dims; // that lines are counted by
  ir::Tap tap;
  int64_t channels = 0; // of a run's taps; 0 where there are none
  cpu::Values origin;   // the axes of line 0
};

} // namespace halftone::skeletons

#endif

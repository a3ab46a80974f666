// SPDX-License-Identifier: Apache-2.0
// Phases of a gathered lhs on the CPU (docs/decisions/0063): a task is of rows of one phase, and
// goes along the k of its taps alone. k is counted phase after phase, so that those are one range,
// and panels of rhs lie in that order.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUPHASE_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUPHASE_H

#include "codegen/emit/cpu/Body.h"
#include "codegen/ir/GatheredPhases.h"

namespace halftone::skeletons {

using mlir::Value;

/// Those of a contraction whose tasks leave out what is not of their phase: of one whose sums may
/// take any order (N16). Tiles of matrices ask for taps of whole tiles.
std::optional<ir::Phases> findCpuPhases(ir::KernelOp kernel);

class CpuPhase {
public:
  /// At the function's start: of phases at hand in all of it.
  CpuPhase(cpu::Code &code, cpu::Frame &frame, ir::Phases phases);

  int64_t count() const { return phases.count(); }
  llvm::ArrayRef<mlir::Attribute> longestRows() const { return phases.rows; }

  /// From here on the phase at hand is this one.
  void enter(Value number);
  /// How many rows it has on each of their axes, and in all: of a length that is shorter than the
  /// stride some phases have none.
  mlir::ValueRange extents() const { return extentsOfRows; }
  Value rows() const { return numberOfRows; }
  /// Of its row `number` on the axis: where that is among the rows of all phases.
  Value placeOn(size_t axis, Value number) const;
  /// The same on each of the first `axes` axes, for a row that these count in row-major order.
  cpu::Values placesOf(Value row, size_t axes) const;
  /// The row of the result.
  Value rowOfResult(Value row) const;
  /// Its k, [begin, end) of those that are counted phase after phase. A phase may have none.
  Value begin() const { return firstK; }
  Value end() const { return lastK; }

  /// Which k of lhs's map, and row of rhs, is `k` phase after phase, whatever is at hand.
  Value kOfMap(Value k) const;

private:
  Value entryOf(Value table, Value number) const;

  cpu::Code &code;
  cpu::Frame &frame;
  ir::Phases phases;
  llvm::ArrayRef<mlir::Attribute> dims; // that rows are counted by
  Value taps, firsts;                   // tables in memory
  cpu::Values remainders, extentsOfRows;
  Value numberOfRows, firstK, lastK;
};

} // namespace halftone::skeletons

#endif

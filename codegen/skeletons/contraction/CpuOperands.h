// SPDX-License-Identifier: Apache-2.0
// The matrices of a contraction on the CPU: where their elements lie, and the copies that register
// tiles read.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUOPERANDS_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUOPERANDS_H

#include <optional>

#include "codegen/skeletons/contraction/CpuLines.h"

namespace halftone::skeletons {

using mlir::Value;

/// Floats between two rows of the copied block of lhs where that lies row by row, no less than the
/// block is deep; 0 where it lies by k, since lhs is transposed. Odd in cache lines, so that rows
/// do not share sets of the cache.
int64_t getLhsStride(ir::KernelOp kernel);

class CpuOperands {
public:
  CpuOperands(cpu::Code &code, cpu::Frame &frame);

  /// From here on lhs has the rows of the phase at hand, and k is counted as there, of both.
  void follow(const CpuPhase &phases) { phase = &phases; }
  /// The memory of the copies, how deep a block is, and where all of rhs is packed
  /// (manifest::Panels).
  void place(Value lhsBlock, Value rhsPanel, Value depthOfBlock, Value packedRhs, Value isPacked);
  /// The matrices of one element of a batch, or the only ones where that is null.
  void enter(Value rows, Value columns, Value depth, Value element);

  /// Copies lhs[begin .. begin + count)[block .. block + length) as f32; rows past the last one
  /// hold its values again, or zeros: what comes of them is never stored.
  void copyLhs(Value begin, Value count, Value block, Value length);
  /// The copy of lhs[begin + row][block], and how far another row's and another k's lie from it.
  Value copiedLhs(Value row);
  int64_t rowStride() const { return stride ? stride : 1; }
  int64_t depthStride() const { return stride ? 1 : lanes; }

  /// Those that panels begin with `column` of: of a block from `block` on, this thread's own or
  /// among all.
  void enterPanels(Value column, Value block);
  /// A line of a panel is one vector, or parts of a register where its length is no power of two.
  unsigned lanesOfPart() const;
  int64_t parts() const { return width / lanesOfPart(); }
  /// How many panels of rhs are packed together: a line each of a row of rhs, where it lies so.
  int64_t panelsAtOnce() const;
  /// panel[k][0 .. width) = rhs(block + k, column ...) for k below `length`, of each panel that
  /// begins in [first, behind); `masks` gives the lanes before the last column, of each part, the
  /// others are never stored.
  void packRhs(Value first, Value behind, llvm::function_ref<cpu::Values(Value column)> masks,
               Value block, Value length);
  /// The panel whose columns begin so many behind the first that was packed.
  void choosePanel(Value columns);
  Value panelAt(Value k);
  /// What packRhs() would put into panel[k], part by part, from where it lies; rhs is not
  /// transposed.
  cpu::Values loadRhs(Value column, mlir::ValueRange masks, Value k);

  /// Where the stored lhs(row, k) and rhs(k, column) lie.
  Value lhsAt(Value row, Value k);
  Value rhsAt(Value k, Value column);

  /// Their lines where they are gathered; null where they lie in memory.
  const CpuLines *linesOf(bool isLhs) const {
    const std::optional<CpuLines> &lines = isLhs ? lhsLines : rhsLines;
    return lines ? &*lines : nullptr;
  }

  /// The f32 values of lhs(row, k), of as many rows as `rows` has lanes where lhs is transposed.
  Value loadLhs(Value row, Value k, unsigned rows, Value mask);

private:
  struct Matrix {
    Value pointer;
    mlir::Type format;
  };

  Matrix matrixOf(unsigned input);
  Value kOfMap(Value k) const { return phase ? phase->kOfMap(k) : k; }
  Value addressIn(const Matrix &matrix, Value index);
  Value loadFrom(const Matrix &matrix, unsigned lanes, Value address, Value mask = {});
  void copyRow(Value row, Value destination, Value block, Value length);
  void inVectors(Value count, unsigned lanes, llvm::function_ref<void(Value k, unsigned lanes)>);
  void copyPart(bool isLhs, mlir::ValueRange axes, const CpuLines::Part &part, Value destination);
  void copyGathered(Value begin, Value count, Value block, Value length);
  void packGathered(Value column, Value block, Value length);
  void copyLanes(Value begin, Value first, Value last, Value block, Value length, bool isEdge);
  void packTransposed(Value column, Value block, Value length, Value inPanel);

  cpu::Code &code;
  cpu::Frame &frame;
  cpu::SumsTile tile;
  int64_t width, stride, lanes;
  const CpuPhase *phase = nullptr;
  Matrix lhs, rhs;
  std::optional<CpuLines> lhsLines, rhsLines; // of those that are read by a map of their own
  Value rows, columns, depth, element;
  Value lhsBlock, ownPanels, depthOfBlock, packedRhs, isPacked;
  Value rhsPanels, rhsPanel, depthOfPanels; // those that were entered, and the one of them at hand
};

} // namespace halftone::skeletons

#endif

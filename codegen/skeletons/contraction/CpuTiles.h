// SPDX-License-Identifier: Apache-2.0
// Products of bf16 matrices by AMX. Both operands are packed as tiles of 16 rows of 64 bytes, one
// after another: of lhs a row of a tile is a row's 32 elements along k; of rhs it is a pair of k,
// of 16 columns (VNNI). What lies past the last k is zero. Operands that are gathered are packed
// from where their lines are (CpuLines), a tile at a time, tap by tap. A product adds 32 k to a
// tile of 16 by 16 sums: the even k one chain from zero, the odd k another, both added to one
// another and then to the sum ("Intel 64 and IA-32 Architectures Software Developer's Manual",
// volume 2, TDPBF16PS). So no bit depends on blocks whose depth is a multiple of 32.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUTILES_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUTILES_H

#include "codegen/skeletons/contraction/CpuOperands.h"

namespace halftone::skeletons {

class CpuTiles {
public:
  /// Whether the frame's variant has tiles.
  static bool run(const cpu::Frame &frame) { return !frame.variant.others.empty(); }

  CpuTiles(cpu::Code &code, cpu::Frame &frame, CpuOperands &operands);

  /// The memory of the packed operands, how deep a block is, and where all `depth` of rhs is packed
  /// (manifest::Panels).
  void place(Value lhsBlock, Value rhsPanel, Value depthOfBlock, Value packedRhs, Value isPacked,
             Value depth);
  /// Tiles are this thread's from here on; release() gives them back.
  void configure();
  void release();

  /// Packs lhs[begin .. end)[block .. block + length).
  void packLhs(Value begin, Value end, Value block, Value length);
  /// The panel that begins with `column`: of a block from `block` on, this thread's own or among
  /// all.
  void enterPanel(Value column, Value block);
  /// Packs rhs[block .. block + length)[column .. column + the register tile's columns) into it.
  void packRhs(Value column, Value columns, Value block, Value length);
  /// Adds the products of `rows` rows, 16 or 32, from the block's `row` on to the sums at `tile`,
  /// or sets those where `isLater` does not hold.
  void multiply(Value tile, Value row, int64_t rows, Value isLater, Value length);

private:
  /// Sixteen rows of lhs or columns of rhs from `first` on, and 32 k.
  struct Source {
    bool isLhs;
    Value first, count; // those that there are, behind the first
    Value k, depth;     // likewise along k
  };

  /// Of lines that are gathered so many from `line` on, and of each as many elements, at most a
  /// tile's row of them.
  struct Rectangle {
    Value line, lines, element, elements;
  };

  void packTile(const Source &source, Value destination);
  void copyLines(const CpuLines &lines, const Rectangle &from, int64_t rows, Value destination);
  void copyPart(const CpuLines &lines, const Rectangle &from, const CpuLines::Part &part,
                Value mask, Value destination);
  void packGathered(const CpuLines &lines, const Rectangle &from, Value destination);
  void fetchNextPanel(Value k, Value rowInBlock);
  Value alongDepth(const Source &source, Value lane);
  Value acrossLanes(const Source &source, Value pair);
  Value addressOf(const Source &source, Value lane, Value k);
  Value loadShorts(Value address, Value mask, unsigned lanes);
  Value tileAt(Value base, Value index);
  Value row(Value tile, Value index);
  void emit(llvm::StringRef instruction, mlir::ValueRange operands);
  Value number(unsigned tile);

  cpu::Code &code;
  cpu::Frame &frame;
  CpuOperands &operands;
  int64_t width;
  Value linesOfTiles;           // of a gathered rhs: those of a row of tiles, as they lie
  Value lhsBlock, tilesOfBlock; // of lhs along k, behind one another
  Value ownPanel, packedRhs, isPacked, tilesOfDepth, rhsPanel;
};

} // namespace halftone::skeletons

#endif

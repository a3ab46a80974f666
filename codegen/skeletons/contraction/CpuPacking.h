// SPDX-License-Identifier: Apache-2.0
// Operands of products of bf16 matrices that are not widened, packed as words of 32 bits that are
// pairs of k, sixteen words a row of 64 bytes: of lhs a row has 32 elements of one row along k, and
// up to sixteen rows are a tile of 1 KiB; of rhs a row has a pair of k, of 16 columns (VNNI). What
// lies past the last k is zero. Operands that are gathered are packed from where their lines are
// (CpuLines), a tile at a time, tap by tap.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUPACKING_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUPACKING_H

#include "codegen/skeletons/contraction/CpuOperands.h"

namespace halftone::skeletons {

/// Rows and columns of a tile, bytes of one of its rows, and pairs of k in that.
inline constexpr int64_t kTileSide = 16, kTileRowBytes = 64, kPairsOfTile = 16;

class CpuPacking {
public:
  CpuPacking(cpu::Code &code, cpu::Frame &frame, CpuOperands &operands);

  /// The memory of the packed operands, how deep a block is, and where all `depth` of rhs is packed
  /// (manifest::Panels).
  void place(Value lhsBlock, Value rhsPanel, Value depthOfBlock, Value packedRhs, Value isPacked,
             Value depth);

  /// Packs lhs[begin .. end)[block .. block + length).
  void packLhs(Value begin, Value end, Value block, Value length);
  /// The panel that begins with `column`: of a block from `block` on, this thread's own or among
  /// all.
  void enterPanel(Value column, Value block);
  /// Packs rhs[block .. block + length)[column .. column + the register tile's columns) into it.
  void packRhs(Value column, Value columns, Value block, Value length);

  /// The columns of the panel that was entered, and its first tile: for each 32 k there are as many
  /// as columns / 16, whose rows of one pair follow one another where the variant has no tiles.
  int64_t columns() const { return width; }
  Value panel() const { return rhsPanel; }
  /// The tile of lhs with the block's `row`, at its first k; those of later k follow it, and behind
  /// tilesAlongDepth() of them is that of the next rows.
  Value lhsTile(Value row) const;
  Value tilesAlongDepth() const { return tilesOfBlock; }
  Value tileAt(Value base, Value index) const;
  /// From a panel of all k to the next one, in tiles; 0 where panels are this thread's own.
  Value tilesToNextPanel() const;
  Value rowAt(Value tile, Value index) const { return rowAt(tile, index, kTileRowBytes); }
  /// Of lhs in one tile: of one register tile or of several.
  int64_t rowsOfTile() const;

private:
  /// Sixteen rows of lhs or columns of rhs from `first` on, and 32 k.
  struct Source {
    bool isLhs;
    Value first, count; // those that there are, behind the first
    Value k, depth;     // likewise along k
  };

  /// Of lines that are gathered so many from `line` on, and of each as many elements, at most a
  /// tile's row of them; `arePairs`: copied as pairs have them.
  struct Rectangle {
    Value line, lines, element, elements;
    bool arePairs = false;
  };

  void packTile(const Source &source, Value destination);
  void copyLines(const CpuLines &lines, const Rectangle &from, int64_t rows, Value destination);
  void copyPart(const CpuLines &lines, const Rectangle &from, const CpuLines::Part &part,
                Value mask, Value destination);
  void packGathered(const CpuLines &lines, const Rectangle &from, int64_t across, Value tiles);
  Value alongDepth(const Source &source, Value lane);
  Value acrossLanes(const Source &source, Value pair);
  Value addressOf(const Source &source, Value lane, Value k);
  Value loadShorts(Value address, Value mask, unsigned lanes);
  Value pairsOf(Value even, Value odd);
  Value turned(Value shorts);
  void turnRows(Value tile);
  Value rhsTile(Value base, Value alongDepth, Value across);
  int64_t rhsRowBytes() const;
  Value rowAt(Value tile, Value index, int64_t bytes) const;

  cpu::Code &code;
  cpu::Frame &frame;
  CpuOperands &operands;
  int64_t height, width;        // of the register tile
  bool turnsPairs;              // whether the later k of a pair is in the lower half of its word
  Value linesOfTiles;           // of a gathered rhs: those of a row of tiles, as they lie
  Value lhsBlock, tilesOfBlock; // of lhs along k, behind one another
  Value ownPanel, packedRhs, isPacked, tilesOfDepth, rhsPanel;
};

} // namespace halftone::skeletons

#endif

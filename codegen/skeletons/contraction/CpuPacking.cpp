// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuPacking.h"

#include "codegen/skeletons/Skeleton.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr int64_t kTileBytes = kTileSide * kTileRowBytes, kWordBytes = 4;

CpuPacking::CpuPacking(Code &code, Frame &frame, CpuOperands &operands)
    : code(code), frame(frame), operands(operands),
      height(frame.variant.tileOf(frame.kernel.getColumns()).rows),
      width(frame.variant.tileOf(frame.kernel.getColumns()).columns),
      turnsPairs(frame.variant.products == Bf16Products::Pairs) {}

void CpuPacking::place(Value lhsMemory, Value panel, Value depthOfBlock, Value packed,
                       Value packedAhead, Value depth) {
  lhsBlock = lhsMemory;
  ownPanel = panel;
  packedRhs = packed;
  isPacked = packedAhead;
  if (frame.kernel.getInputAccess(findMatrices(frame.kernel).rhs).getMap())
    linesOfTiles = code.scratch(code.builder.getI8Type(), kMatrixDepth * kTileRowBytes);
  tilesOfBlock = code.ceilDivide(depthOfBlock, kMatrixDepth);
  tilesOfDepth = code.ceilDivide(depth, kMatrixDepth);
}

//===--- Where tiles lie ---===//

Value CpuPacking::tileAt(Value base, Value index) const {
  return code.address(base, code.builder.getI8Type(),
                      code.multiply(index, code.integer(kTileBytes)));
}

Value CpuPacking::rowAt(Value tile, Value index, int64_t bytes) const {
  return code.address(tile, code.builder.getI8Type(), code.multiply(index, code.integer(bytes)));
}

int64_t CpuPacking::rowsOfTile() const {
  return height < kTileSide && kTileSide % height != 0 ? height : kTileSide;
}

Value CpuPacking::lhsTile(Value row) const {
  return tileAt(lhsBlock, code.multiply(code.divide(row, rowsOfTile()), tilesOfBlock));
}

/// Products of tiles load one as a whole; others the same pair of all columns.
int64_t CpuPacking::rhsRowBytes() const {
  return frame.variant.products == Bf16Products::Tiles ? kTileRowBytes : width * kWordBytes;
}

/// Sixteen columns, `across` of those of 16 pairs of k, which are `alongDepth` of all.
Value CpuPacking::rhsTile(Value base, Value alongDepth, Value across) {
  Value first = tileAt(base, code.multiply(alongDepth, code.integer(width / kTileSide)));
  const bool isWhole = frame.variant.products == Bf16Products::Tiles;
  return isWhole ? tileAt(first, across) : rowAt(first, across);
}

Value CpuPacking::tilesToNextPanel() const {
  return code.select(isPacked, code.multiply(tilesOfDepth, code.integer(width / kTileSide)),
                     code.integer(0));
}

//===--- Words ---===//

/// As many neighbours as `lanes`, zeros where the mask is not set. AVX-512 has masks for 16-bit
/// lanes.
Value CpuPacking::loadShorts(Value address, Value mask, unsigned lanes) {
  auto type = cast<VectorType>(code.vector(code.builder.getI16Type(), lanes));
  if (!mask)
    return code.load(type, address);
  Value zero = arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(type));
  return LLVM::MaskedLoadOp::create(code.builder, code.loc, type, address, mask, zero, 2);
}

Value CpuPacking::addressOf(const Source &source, Value lane, Value k) {
  Value at = code.add(source.first, lane), depth = code.add(source.k, k);
  return source.isLhs ? operands.lhsAt(at, depth) : operands.rhsAt(depth, at);
}

static Value asWords(Code &code, Value shorts) {
  return vector::BitCastOp::create(code.builder, code.loc,
                                   code.vector(code.builder.getI32Type(), kTileSide), shorts);
}

Value CpuPacking::pairsOf(Value even, Value odd) {
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < kTileSide; ++lane)
    lanes.append({lane, kTileSide + lane});
  return asWords(code,
                 turnsPairs ? code.shuffle(odd, even, lanes) : code.shuffle(even, odd, lanes));
}

/// Neighbours along k, as pairs have them.
Value CpuPacking::turned(Value shorts) {
  if (!turnsPairs)
    return shorts;
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < kMatrixDepth; lane += 2)
    lanes.append({lane + 1, lane});
  return code.shuffle(shorts, shorts, lanes);
}

//===--- Matrices that lie in memory ---===//

/// 16 pairs of k of one row or column, whose k are neighbours. Past the last one it is read again:
/// what comes of it is never stored.
Value CpuPacking::alongDepth(const Source &source, Value lane) {
  Value last = code.subtract(source.count, code.integer(1));
  Value address = addressOf(source, code.minimum(lane, last), code.integer(0));
  return asWords(
      code, turned(loadShorts(address, code.firstLanes(source.depth, kMatrixDepth), kMatrixDepth)));
}

/// A pair of k of 16 rows or columns, which are neighbours at every k.
Value CpuPacking::acrossLanes(const Source &source, Value pair) {
  Values shorts;
  for (int64_t i = 0; i < 2; ++i) {
    Value k = code.add(code.multiply(pair, code.integer(2)), code.integer(i));
    Value count = code.select(code.less(k, source.depth), source.count, code.integer(0));
    shorts.push_back(loadShorts(addressOf(source, code.integer(0), k),
                                code.firstLanes(count, kTileSide), kTileSide));
  }
  return pairsOf(shorts[0], shorts[1]);
}

/// Lines as they lie in memory are rows of the tile, or its columns.
void CpuPacking::packTile(const Source &source, Value destination) {
  const int64_t rows = source.isLhs ? rowsOfTile() : kTileSide,
                bytes = source.isLhs ? kTileRowBytes : rhsRowBytes();
  bool isAlongDepth =
      source.isLhs ? !frame.kernel.getTransposeLhs() : frame.kernel.getTransposeRhs();
  auto line = [&](Value index) {
    return isAlongDepth ? alongDepth(source, index) : acrossLanes(source, index);
  };
  if (isAlongDepth == source.isLhs) {
    code.loop(code.integer(0), code.integer(rows), 1,
              [&](Value i) { code.store(line(i), rowAt(destination, i, bytes)); });
    return;
  }
  Values lines;
  for (int64_t i = 0; i < kTileSide; ++i)
    lines.push_back(line(code.integer(i)));
  code.transpose(lines);
  for (auto [i, words] : llvm::enumerate(lines))
    code.store(words, rowAt(destination, code.integer(static_cast<int64_t>(i)), bytes));
}

//===--- Matrices that are gathered ---===//

/// Lanes [from, to) of a row.
static Value lanesBetween(Code &code, Value from, Value to) {
  auto below = [&](Value count) {
    return arith::ShLIOp::create(code.builder, code.loc, code.integer(1), count);
  };
  Type word = code.builder.getI32Type();
  Value bits =
      arith::TruncIOp::create(code.builder, code.loc, word, code.subtract(below(to), below(from)));
  return LLVM::BitcastOp::create(code.builder, code.loc,
                                 code.vector(code.builder.getI1Type(), kMatrixDepth), bits);
}

/// The elements of a part, of each line, at its place in a row of 64 bytes.
void CpuPacking::copyPart(const CpuLines &lines, const Rectangle &from, const CpuLines::Part &part,
                          Value mask, Value destination) {
  Type element = code.builder.getI16Type();
  Value first = code.address(destination, element, code.subtract(part.first, from.element));
  lines.eachLine(from.line, code.add(from.line, from.lines), [&](Value line, ValueRange axes) {
    CpuLines::Place place = lines.find(axes, part);
    Value inside = place.to ? lanesBetween(code, place.from, place.to) : mask;
    Value shorts = loadShorts(place.address, inside, kMatrixDepth);
    if (from.arePairs)
      shorts = turned(shorts);
    Value to = rowAt(first, code.subtract(line, from.line));
    if (!mask)
      return code.store(shorts, to);
    LLVM::MaskedStoreOp::create(code.builder, code.loc, shorts, to, mask, 2);
  });
}

/// `rows` rows of 64 bytes, one for each line, zeros where the rectangle has none. Tiles begin with
/// multiples of 32 elements, so that where taps are of such multiples, too, a row is of one tap and
/// has all of its elements.
void CpuPacking::copyLines(const CpuLines &lines, const Rectangle &from, int64_t rows,
                           Value destination) {
  Type shorts = code.vector(code.builder.getI16Type(), kMatrixDepth);
  Value zero = arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(shorts));
  auto clear = [&] {
    code.loop(code.integer(0), code.integer(rows), 1,
              [&](Value i) { code.store(zero, rowAt(destination, i)); });
  };
  const bool isOfWholeRows = lines.tapLength() % kMatrixDepth == 0;
  Value isPart = code.less(from.lines, code.integer(rows));
  if (!isOfWholeRows)
    isPart = arith::OrIOp::create(code.builder, code.loc, isPart,
                                  code.less(from.elements, code.integer(kMatrixDepth)));
  code.when(isPart, clear);
  if (isOfWholeRows)
    return copyPart(lines, from, lines.partOf(from.element, from.elements), {}, destination);
  lines.eachPart(
      from.element, code.add(from.element, from.elements), [&](const CpuLines::Part &part) {
        copyPart(lines, from, part, code.firstLanes(part.count, kMatrixDepth), destination);
      });
}

void CpuPacking::turnRows(Value tile) {
  Type shorts = code.vector(code.builder.getI16Type(), kMatrixDepth);
  code.loop(code.integer(0), code.integer(rowsOfTile()), 1, [&](Value i) {
    Value row = rowAt(tile, i);
    code.store(turned(code.load(shorts, row)), row);
  });
}

void CpuPacking::packLhs(Value begin, Value end, Value block, Value length) {
  const CpuLines *lines = operands.linesOf(true);
  // Otherwise a part may begin or end within a pair.
  const bool arePairs = lines && lines->tapLength() % 2 == 0;
  code.loop(begin, end, rowsOfTile(), [&](Value first) {
    Value tile = lhsTile(code.subtract(first, begin));
    code.loop(code.integer(0), length, kMatrixDepth, [&](Value k) {
      Value destination = tileAt(tile, code.divide(k, kMatrixDepth));
      Value rows = code.subtract(end, first), from = code.add(block, k),
            depth = code.subtract(length, k);
      if (!lines)
        return packTile({true, first, rows, from, depth}, destination);
      copyLines(*lines,
                {first, code.minimum(rows, code.integer(rowsOfTile())), from,
                 code.minimum(depth, code.integer(kMatrixDepth)), arePairs},
                rowsOfTile(), destination);
      if (turnsPairs && !arePairs)
        turnRows(destination);
    });
  });
}

void CpuPacking::enterPanel(Value column, Value block) {
  Value before = code.add(code.multiply(code.divide(column, width), tilesOfDepth),
                          code.divide(block, kMatrixDepth));
  Value tiles = code.multiply(before, code.integer(width / kTileSide));
  rhsPanel = code.select(isPacked, tileAt(packedRhs, tiles), ownPanel);
}

/// Lines are k, so that those of a row of tiles are put side by side first, then pairs of them into
/// the tiles.
void CpuPacking::packGathered(const CpuLines &lines, const Rectangle &from, int64_t across,
                              Value tiles) {
  copyLines(lines, from, kMatrixDepth, linesOfTiles);
  code.loop(code.integer(0), code.integer(kTileSide), 1, [&](Value pair) {
    for (int64_t tile = 0; tile < across; ++tile) {
      auto half = [&](int64_t odd) {
        Value line =
            rowAt(linesOfTiles, code.add(code.multiply(pair, code.integer(2)), code.integer(odd)));
        return loadShorts(
            code.address(line, code.builder.getI16Type(), code.integer(tile * kTileSide)), {},
            kTileSide);
      };
      Value destination = rhsTile(tiles, code.integer(0), code.integer(tile));
      code.store(pairsOf(half(0), half(1)), rowAt(destination, pair, rhsRowBytes()));
    }
  });
}

void CpuPacking::packRhs(Value column, Value columns, Value block, Value length) {
  int64_t across = width / kTileSide;
  const CpuLines *lines = operands.linesOf(false);
  code.loop(code.integer(0), length, kMatrixDepth, [&](Value k) {
    Value tile = code.divide(k, kMatrixDepth);
    for (int64_t from = 0; lines && from < width; from += kMatrixDepth) {
      const int64_t count = std::min(width - from, kMatrixDepth);
      Value first = code.add(column, code.integer(from));
      packGathered(*lines,
                   {code.add(block, k),
                    code.minimum(code.subtract(length, k), code.integer(kMatrixDepth)), first,
                    code.minimum(code.subtract(columns, first), code.integer(count))},
                   count / kTileSide, rhsTile(rhsPanel, tile, code.integer(from / kTileSide)));
    }
    if (lines)
      return;
    code.loop(code.integer(0), code.integer(across), 1, [&](Value lane) {
      Value first = code.add(column, code.multiply(lane, code.integer(kTileSide)));
      // A panel's second half may lie past the last column.
      Value last = code.subtract(columns, code.integer(1));
      Value count = code.subtract(columns, first), inside = code.minimum(first, last);
      packTile({false, inside, code.maximum(count, code.integer(1)), code.add(block, k),
                code.subtract(length, k)},
               rhsTile(rhsPanel, tile, lane));
    });
  });
}

} // namespace halftone::skeletons

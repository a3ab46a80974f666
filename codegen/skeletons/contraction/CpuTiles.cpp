// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuTiles.h"

#include "codegen/skeletons/Skeleton.h"
#include "codegen/skeletons/contraction/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr int64_t kSide = 16;                // rows of a tile, columns of sums
constexpr int64_t kRowBytes = 64, kWord = 4; // a word is a pair of bf16, or a sum
constexpr int64_t kTileBytes = kSide * kRowBytes;
// Numbers of the eight tiles: four of sums, two of lhs, two of rhs.
constexpr unsigned kSums = 0, kLhs = 4, kRhs = 6;

CpuTiles::CpuTiles(Code &code, Frame &frame, CpuOperands &operands)
    : code(code), frame(frame), operands(operands),
      width(frame.variant.columnsOfTile(frame.kernel.getColumns())) {}

void CpuTiles::place(Value lhsMemory, Value panel, Value depthOfBlock, Value packed,
                     Value packedAhead, Value depth) {
  lhsBlock = lhsMemory;
  ownPanel = panel;
  packedRhs = packed;
  isPacked = packedAhead;
  if (frame.kernel.getInputAccess(findMatrices(frame.kernel).rhs).getMap())
    linesOfTiles = code.scratch(code.builder.getI8Type(), kMatrixDepth * kRowBytes);
  tilesOfBlock = code.ceilDivide(depthOfBlock, kMatrixDepth);
  tilesOfDepth = code.ceilDivide(depth, kMatrixDepth);
}

//===--- Instructions ---===//

/// Named as LLVM's intrinsics. They take tiles by number, and LLVM orders them with all that reads
/// or writes memory.
void CpuTiles::emit(StringRef instruction, ValueRange operandsOfIt) {
  LLVM::CallIntrinsicOp::create(
      code.builder, code.loc, code.builder.getStringAttr("llvm.x86." + instruction), operandsOfIt);
}

Value CpuTiles::number(unsigned tile) {
  return arith::ConstantIntOp::create(code.builder, code.loc, tile, 8);
}

/// Palette 1, all tiles of 16 rows of 64 bytes, as LDTILECFG reads it: word 0 holds the palette,
/// words 4 to 7 the bytes of a row and words 12 and 13 the rows, of eight tiles.
void CpuTiles::configure() {
  constexpr int32_t kBytes = kRowBytes | kRowBytes << 16, kRows = 0x01010101 * kSide;
  SmallVector<int32_t> words = {1, 0, 0, 0, kBytes, kBytes, kBytes, kBytes,
                                0, 0, 0, 0, kRows,  kRows,  0,      0};
  Type word = code.builder.getI32Type();
  auto type = cast<VectorType>(code.vector(word, static_cast<unsigned>(words.size())));
  Value memory = code.scratch(word, static_cast<int64_t>(words.size()));
  code.store(arith::ConstantOp::create(code.builder, code.loc,
                                       DenseElementsAttr::get(type, ArrayRef(words))),
             memory);
  emit("ldtilecfg", {memory});
}

void CpuTiles::release() { emit("tilerelease", {}); }

//===--- Packing ---===//

Value CpuTiles::tileAt(Value base, Value index) {
  return code.address(base, code.builder.getI8Type(),
                      code.multiply(index, code.integer(kTileBytes)));
}

Value CpuTiles::row(Value tile, Value index) {
  return code.address(tile, code.builder.getI8Type(),
                      code.multiply(index, code.integer(kRowBytes)));
}

/// As many neighbours as `lanes`, zeros where the mask is not set. AVX-512 has masks for 16-bit
/// lanes.
Value CpuTiles::loadShorts(Value address, Value mask, unsigned lanes) {
  auto type = cast<VectorType>(code.vector(code.builder.getI16Type(), lanes));
  if (!mask)
    return code.load(type, address);
  Value zero = arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(type));
  return LLVM::MaskedLoadOp::create(code.builder, code.loc, type, address, mask, zero, 2);
}

Value CpuTiles::addressOf(const Source &source, Value lane, Value k) {
  Value at = code.add(source.first, lane), depth = code.add(source.k, k);
  return source.isLhs ? operands.lhsAt(at, depth) : operands.rhsAt(depth, at);
}

static Value asWords(Code &code, Value shorts) {
  return vector::BitCastOp::create(code.builder, code.loc,
                                   code.vector(code.builder.getI32Type(), kSide), shorts);
}

static Value pairsOf(Code &code, Value even, Value odd) {
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < kSide; ++lane)
    lanes.append({lane, kSide + lane});
  return asWords(code, code.shuffle(even, odd, lanes));
}

/// 16 pairs of k of one row or column, whose k are neighbours. Past the last one it is read again:
/// what comes of it is never stored.
Value CpuTiles::alongDepth(const Source &source, Value lane) {
  Value last = code.subtract(source.count, code.integer(1));
  Value address = addressOf(source, code.minimum(lane, last), code.integer(0));
  return asWords(code,
                 loadShorts(address, code.firstLanes(source.depth, kMatrixDepth), kMatrixDepth));
}

/// A pair of k of 16 rows or columns, which are neighbours at every k.
Value CpuTiles::acrossLanes(const Source &source, Value pair) {
  Values shorts;
  for (int64_t i = 0; i < 2; ++i) {
    Value k = code.add(code.multiply(pair, code.integer(2)), code.integer(i));
    Value count = code.select(code.less(k, source.depth), source.count, code.integer(0));
    shorts.push_back(
        loadShorts(addressOf(source, code.integer(0), k), code.firstLanes(count, kSide), kSide));
  }
  return pairsOf(code, shorts[0], shorts[1]);
}

/// Lines as they lie in memory are rows of the tile, or its columns.
void CpuTiles::packTile(const Source &source, Value destination) {
  bool isAlongDepth =
      source.isLhs ? !frame.kernel.getTransposeLhs() : frame.kernel.getTransposeRhs();
  auto line = [&](Value index) {
    return isAlongDepth ? alongDepth(source, index) : acrossLanes(source, index);
  };
  if (isAlongDepth == source.isLhs) {
    code.loop(code.integer(0), code.integer(kSide), 1,
              [&](Value i) { code.store(line(i), row(destination, i)); });
    return;
  }
  Values lines;
  for (int64_t i = 0; i < kSide; ++i)
    lines.push_back(line(code.integer(i)));
  code.transpose(lines);
  for (auto [i, words] : llvm::enumerate(lines))
    code.store(words, row(destination, code.integer(static_cast<int64_t>(i))));
}

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
void CpuTiles::copyPart(const CpuLines &lines, const Rectangle &from, const CpuLines::Part &part,
                        Value mask, Value destination) {
  Type element = code.builder.getI16Type();
  Value first = code.address(destination, element, code.subtract(part.first, from.element));
  lines.eachLine(from.line, code.add(from.line, from.lines), [&](Value line, ValueRange axes) {
    CpuLines::Place place = lines.find(axes, part);
    Value inside = place.to ? lanesBetween(code, place.from, place.to) : mask;
    Value shorts = loadShorts(place.address, inside, kMatrixDepth);
    Value to = row(first, code.subtract(line, from.line));
    if (!mask)
      return code.store(shorts, to);
    LLVM::MaskedStoreOp::create(code.builder, code.loc, shorts, to, mask, 2);
  });
}

/// `rows` rows of 64 bytes, one for each line, zeros where the rectangle has none. Tiles begin with
/// multiples of 32 elements, so that where taps are of such multiples, too, a row is of one tap and
/// has all of its elements.
void CpuTiles::copyLines(const CpuLines &lines, const Rectangle &from, int64_t rows,
                         Value destination) {
  Type shorts = code.vector(code.builder.getI16Type(), kMatrixDepth);
  Value zero = arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(shorts));
  auto clear = [&] {
    code.loop(code.integer(0), code.integer(rows), 1,
              [&](Value i) { code.store(zero, row(destination, i)); });
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

void CpuTiles::packLhs(Value begin, Value end, Value block, Value length) {
  const CpuLines *lines = operands.linesOf(true);
  code.loop(begin, end, kSide, [&](Value first) {
    Value tile = code.multiply(code.divide(code.subtract(first, begin), kSide), tilesOfBlock);
    code.loop(code.integer(0), length, kMatrixDepth, [&](Value k) {
      Value destination = tileAt(lhsBlock, code.add(tile, code.divide(k, kMatrixDepth)));
      Value rows = code.subtract(end, first), from = code.add(block, k),
            depth = code.subtract(length, k);
      if (!lines)
        return packTile({true, first, rows, from, depth}, destination);
      copyLines(*lines,
                {first, code.minimum(rows, code.integer(kSide)), from,
                 code.minimum(depth, code.integer(kMatrixDepth))},
                kSide, destination);
    });
  });
}

void CpuTiles::enterPanel(Value column, Value block) {
  Value before = code.add(code.multiply(code.divide(column, width), tilesOfDepth),
                          code.divide(block, kMatrixDepth));
  Value tiles = code.multiply(before, code.integer(width / kSide));
  rhsPanel = code.select(isPacked, tileAt(packedRhs, tiles), ownPanel);
}

/// Lines are k, so that those of a row of tiles are put side by side first, then pairs of them into
/// the tiles.
void CpuTiles::packGathered(const CpuLines &lines, const Rectangle &from, Value tiles) {
  copyLines(lines, from, kMatrixDepth, linesOfTiles);
  code.loop(code.integer(0), code.integer(kSide), 1, [&](Value pair) {
    for (int64_t tile = 0; tile < width / kSide; ++tile) {
      auto half = [&](int64_t odd) {
        Value line =
            row(linesOfTiles, code.add(code.multiply(pair, code.integer(2)), code.integer(odd)));
        return loadShorts(code.address(line, code.builder.getI16Type(), code.integer(tile * kSide)),
                          {}, kSide);
      };
      code.store(pairsOf(code, half(0), half(1)), row(tileAt(tiles, code.integer(tile)), pair));
    }
  });
}

void CpuTiles::packRhs(Value column, Value columns, Value block, Value length) {
  int64_t across = width / kSide;
  const CpuLines *lines = operands.linesOf(false);
  code.loop(code.integer(0), length, kMatrixDepth, [&](Value k) {
    Value tile = code.multiply(code.divide(k, kMatrixDepth), code.integer(across));
    if (lines)
      return packGathered(
          *lines,
          {code.add(block, k), code.minimum(code.subtract(length, k), code.integer(kMatrixDepth)),
           column, code.minimum(code.subtract(columns, column), code.integer(width))},
          tileAt(rhsPanel, tile));
    code.loop(code.integer(0), code.integer(across), 1, [&](Value lane) {
      Value first = code.add(column, code.multiply(lane, code.integer(kSide)));
      // A panel's second half may lie past the last column.
      Value last = code.subtract(columns, code.integer(1));
      Value count = code.subtract(columns, first), inside = code.minimum(first, last);
      packTile({false, inside, code.maximum(count, code.integer(1)), code.add(block, k),
                code.subtract(length, k)},
               tileAt(rhsPanel, code.add(tile, lane)));
    });
  });
}

//===--- Products ---===//

/// Into the second-level cache, what tiles `k` of the next packed panel have: every register tile
/// of rows fetches one line in sixteen, so that a task of many has fetched all of them.
void CpuTiles::fetchNextPanel(Value k, Value rowInBlock) {
  const int64_t across = width / kSide;
  Value tile = code.divide(rowInBlock, frame.variant.tileRows);
  Value line = code.multiply(code.remainder(tile, code.integer(kSide)), code.integer(kRowBytes));
  Value panel = code.select(isPacked, code.multiply(tilesOfDepth, code.integer(across)),
                            code.integer(0)); // its own is at hand
  for (int64_t j = 0; j < across; ++j) {
    Value ahead =
        code.add(panel, code.add(code.multiply(k, code.integer(across)), code.integer(j)));
    LLVM::Prefetch::create(code.builder, code.loc,
                           code.address(tileAt(rhsPanel, ahead), code.builder.getI8Type(), line),
                           /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

void CpuTiles::multiply(Value tile, Value rowInBlock, int64_t rows, Value isLater, Value length) {
  const auto down = static_cast<unsigned>(rows / kSide),
             across = static_cast<unsigned>(width / kSide);
  auto eachSum = [&](llvm::function_ref<void(Value sum, unsigned i, unsigned j)> body) {
    for (unsigned i = 0; i < down; ++i)
      for (unsigned j = 0; j < across; ++j)
        body(number(kSums + i * across + j), i, j);
  };
  auto place = [&](unsigned i, unsigned j) {
    return code.address(tile, code.f32(), code.integer(kSide * (i * width + j)));
  };
  Value sumStride = code.integer(width * kWord), stride = code.integer(kRowBytes);
  eachSum([&](Value sum, unsigned, unsigned) { emit("tilezero", {sum}); });
  code.when(isLater, [&] {
    eachSum([&](Value sum, unsigned i, unsigned j) {
      emit("tileloadd64", {sum, place(i, j), sumStride});
    });
  });
  Value lhs = code.multiply(code.divide(rowInBlock, kSide), tilesOfBlock);
  Value steps = code.ceilDivide(length, kMatrixDepth);
  code.loop(code.integer(0), steps, 1, [&](Value k) {
    for (unsigned i = 0; i < down; ++i) {
      Value index = code.add(lhs, code.add(code.multiply(code.integer(i), tilesOfBlock), k));
      emit("tileloadd64", {number(kLhs + i), tileAt(lhsBlock, index), stride});
    }
    for (unsigned j = 0; j < across; ++j) {
      Value index = code.add(code.multiply(k, code.integer(across)), code.integer(j));
      emit("tileloadd64", {number(kRhs + j), tileAt(rhsPanel, index), stride});
    }
    fetchNextPanel(k, rowInBlock);
    eachSum([&](Value sum, unsigned i, unsigned j) {
      emit("tdpbf16ps", {sum, number(kLhs + i), number(kRhs + j)});
    });
  });
  eachSum([&](Value sum, unsigned i, unsigned j) {
    emit("tilestored64", {sum, place(i, j), sumStride});
  });
}

} // namespace halftone::skeletons

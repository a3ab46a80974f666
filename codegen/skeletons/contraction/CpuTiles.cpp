// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuTiles.h"

#include "codegen/skeletons/Skeleton.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace halftone::cpu;

namespace halftone::skeletons {

// Numbers of the eight tiles: four of sums, two of lhs, two of rhs.
constexpr unsigned kSums = 0, kLhs = 4, kRhs = 6;

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
  constexpr int32_t kBytes = kTileRowBytes | kTileRowBytes << 16, kRows = 0x01010101 * kTileSide;
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

//===--- Products ---===//

/// Into the second-level cache, what tiles `k` of the next packed panel have: every register tile
/// of rows fetches one line in sixteen, so that a task of many has fetched all of them.
void CpuTiles::fetchNextPanel(Value k, Value rowInBlock) {
  const int64_t across = packed.columns() / kTileSide;
  Value tile = code.divide(rowInBlock, frame.variant.tile.rows);
  Value line =
      code.multiply(code.remainder(tile, code.integer(kTileSide)), code.integer(kTileRowBytes));
  Value panel = packed.tilesToNextPanel(); // its own is at hand
  for (int64_t j = 0; j < across; ++j) {
    Value ahead =
        code.add(panel, code.add(code.multiply(k, code.integer(across)), code.integer(j)));
    LLVM::Prefetch::create(
        code.builder, code.loc,
        code.address(packed.tileAt(packed.panel(), ahead), code.builder.getI8Type(), line),
        /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

void CpuTiles::multiply(Value tile, Value rowInBlock, int64_t rows, Value isLater, Value length) {
  const int64_t width = packed.columns();
  const auto down = static_cast<unsigned>(rows / kTileSide),
             across = static_cast<unsigned>(width / kTileSide);
  auto eachSum = [&](llvm::function_ref<void(Value sum, unsigned i, unsigned j)> body) {
    for (unsigned i = 0; i < down; ++i)
      for (unsigned j = 0; j < across; ++j)
        body(number(kSums + i * across + j), i, j);
  };
  auto place = [&](unsigned i, unsigned j) {
    return code.address(tile, code.f32(), code.integer(kTileSide * (i * width + j)));
  };
  Value sumStride = code.integer(width * static_cast<int64_t>(sizeof(float))),
        stride = code.integer(kTileRowBytes);
  eachSum([&](Value sum, unsigned, unsigned) { emit("tilezero", {sum}); });
  code.when(isLater, [&] {
    eachSum([&](Value sum, unsigned i, unsigned j) {
      emit("tileloadd64", {sum, place(i, j), sumStride});
    });
  });
  Value lhs = packed.lhsTile(rowInBlock);
  Value steps = code.ceilDivide(length, kMatrixDepth);
  code.loop(code.integer(0), steps, 1, [&](Value k) {
    for (unsigned i = 0; i < down; ++i) {
      Value index = code.add(code.multiply(code.integer(i), packed.tilesAlongDepth()), k);
      emit("tileloadd64", {number(kLhs + i), packed.tileAt(lhs, index), stride});
    }
    for (unsigned j = 0; j < across; ++j) {
      Value index = code.add(code.multiply(k, code.integer(across)), code.integer(j));
      emit("tileloadd64", {number(kRhs + j), packed.tileAt(packed.panel(), index), stride});
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

// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/contraction/CpuPairs.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace halftone::cpu;

namespace halftone::skeletons {

constexpr unsigned kLanesOfPairs = 16; // of a register

Value CpuPairs::lhsAt(Value row) {
  return packed.rowAt(packed.lhsTile(row), code.remainder(row, code.integer(packed.rowsOfTile())));
}

Values CpuPairs::lineOf(Value pair, int64_t columnsOfPart) {
  Type word = code.builder.getI32Type();
  Value index = code.multiply(pair, code.integer(packed.columns()));
  Values line;
  for (int64_t first = 0; first < packed.columns(); first += columnsOfPart)
    line.push_back(
        code.load(code.vector(word, static_cast<unsigned>(columnsOfPart)),
                  code.address(packed.panel(), word, code.add(index, code.integer(first)))));
  return line;
}

Values CpuPairs::addProducts(Value lhs, Value pair, ValueRange line, ValueRange sums) {
  Type word = code.builder.getI32Type();
  VectorType halves = code.vector(code.builder.getBF16Type(), 2 * kLanesOfPairs);
  auto halvesOf = [&](Value words) -> Value {
    return vector::BitCastOp::create(code.builder, code.loc, halves, words);
  };
  const int64_t ofPart = packed.columns() / static_cast<int64_t>(line.size());
  SmallVector<Values> partsOf; // registers of each
  for (Value words : line) {
    Values &parts = partsOf.emplace_back();
    for (int64_t first = 0; first < ofPart; first += kLanesOfPairs)
      parts.push_back(halvesOf(code.slice(words, first, kLanesOfPairs)));
  }
  Value inTile = code.remainder(pair, code.integer(kPairsOfTile));
  Value factors = code.address(packed.tileAt(lhs, code.divide(pair, kPairsOfTile)), word, inTile);
  Values next;
  Value factor; // of the row at hand
  for (auto [i, sum] : llvm::enumerate(sums)) {
    if (i % line.size() == 0) {
      Value at = packed.rowAt(factors, code.integer(static_cast<int64_t>(i / line.size())));
      factor = halvesOf(code.splat(code.load(word, at), kLanesOfPairs));
    }
    const Values &parts = partsOf[i % line.size()];
    Value added = sum;
    for (auto [part, right] : llvm::enumerate(parts)) {
      const auto first = static_cast<int64_t>(part * kLanesOfPairs);
      Value before = code.slice(sum, first, kLanesOfPairs);
      Value after = code.callIntrinsic("llvm.x86.avx512bf16.dpbf16ps.512", before.getType(),
                                       {before, factor, right});
      added = parts.size() == 1 ? after : code.insert(after, added, first);
    }
    next.push_back(added);
  }
  return next;
}

} // namespace halftone::skeletons

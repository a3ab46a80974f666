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

Value CpuPairs::lineOf(Value pair) {
  Type word = code.builder.getI32Type();
  Value index = code.multiply(pair, code.integer(packed.columns()));
  return code.load(code.vector(word, static_cast<unsigned>(packed.columns())),
                   code.address(packed.panel(), word, index));
}

Values CpuPairs::addProducts(Value lhs, Value pair, Value line, ValueRange sums) {
  Type word = code.builder.getI32Type();
  VectorType halves = code.vector(code.builder.getBF16Type(), 2 * kLanesOfPairs);
  auto halvesOf = [&](Value words) -> Value {
    return vector::BitCastOp::create(code.builder, code.loc, halves, words);
  };
  Values parts;
  for (int64_t first = 0; first < packed.columns(); first += kLanesOfPairs)
    parts.push_back(halvesOf(code.slice(line, first, kLanesOfPairs)));
  Value inTile = code.remainder(pair, code.integer(kPairsOfTile));
  Value factors = code.address(packed.tileAt(lhs, code.divide(pair, kPairsOfTile)), word, inTile);
  Values next;
  for (auto [row, sum] : llvm::enumerate(sums)) {
    Value at = packed.rowAt(factors, code.integer(static_cast<int64_t>(row)));
    Value factor = halvesOf(code.splat(code.load(word, at), kLanesOfPairs));
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

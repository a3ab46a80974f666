// SPDX-License-Identifier: Apache-2.0
// Partial sums in vector registers, folded by halving.
#include "codegen/emit/cpu/Trees.h"

#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace halftone::cpu {

namespace {

Value combineValues(Code &code, Combine combine, Value a, Value b) {
  OpBuilder &builder = code.builder;
  if (combine == Combine::Sum)
    return arith::AddFOp::create(builder, code.loc, a, b);
  // N5: a where it is greater or NaN
  Value greater = arith::CmpFOp::create(builder, code.loc, arith::CmpFPredicate::OGT, a, b);
  Value nan = arith::CmpFOp::create(builder, code.loc, arith::CmpFPredicate::UNO, a, a);
  return arith::SelectOp::create(builder, code.loc,
                                 arith::OrIOp::create(builder, code.loc, greater, nan), a, b);
}

Value start(Code &code, Combine combine, unsigned lanes) {
  return code.splat(combine == Combine::Sum ? 0.0f : -std::numeric_limits<float>::infinity(),
                    lanes);
}

/// Folds the partials: p_l takes p_{l+s} for s = 16, 8, 4, 2, 1. `partials` are kPartials / lanes
/// vectors.
Value fold(Code &code, Combine combine, Values partials, unsigned lanes) {
  while (partials.size() > 1) {
    size_t half = partials.size() / 2;
    for (size_t i = 0; i < half; ++i)
      partials[i] = combineValues(code, combine, partials[i], partials[i + half]);
    partials.resize(half);
  }
  Value vector = partials[0];
  for (int64_t width = lanes / 2; width > 0; width /= 2) {
    Value lower = code.slice(vector, 0, width), upper = code.slice(vector, width, width);
    vector = combineValues(code, combine, lower, upper);
  }
  return code.firstLane(vector);
}

/// One pass over kPartials columns from `column`; `maskOf(group)` is null for all lanes, or nothing
/// to skip the group.
Values accumulate(Code &code, unsigned lanes, ArrayRef<Combine> combines, Value column,
                  ValueRange partials, Elements elements,
                  function_ref<std::optional<Value>(unsigned)> maskOf) {
  unsigned groups = kPartials / lanes;
  Values next(partials);
  for (unsigned group = 0; group < groups; ++group) {
    std::optional<Value> mask = maskOf(group);
    if (!mask)
      continue;
    Values values = elements(code.add(column, code.integer(group * lanes)), *mask, lanes);
    for (size_t i = 0; i < combines.size(); ++i) {
      Value &partial = next[i * groups + group];
      Value combined = combineValues(code, combines[i], partial, code.splat(values[i], lanes));
      partial =
          *mask ? Value(arith::SelectOp::create(code.builder, code.loc, *mask, combined, partial))
                : combined;
    }
  }
  return next;
}

Values startPartials(Code &code, unsigned lanes, ArrayRef<Combine> combines) {
  Values partials;
  for (Combine combine : combines)
    partials.append(kPartials / lanes, start(code, combine, lanes));
  return partials;
}

Values foldAll(Code &code, unsigned lanes, ArrayRef<Combine> combines, ArrayRef<Value> partials) {
  unsigned groups = kPartials / lanes;
  Values results;
  for (size_t i = 0; i < combines.size(); ++i)
    results.push_back(fold(code, combines[i], Values(partials.slice(i * groups, groups)), lanes));
  return results;
}

} // namespace

Values reduceChunk(Code &code, const CpuVariant &variant, ArrayRef<Combine> combines, Value first,
                   int64_t count, Elements elements) {
  unsigned lanes = variant.rowLanes;
  auto whole = [](unsigned) { return std::optional<Value>(Value()); };
  int64_t main = count / kPartials * kPartials;
  Values partials = startPartials(code, lanes, combines);
  if (main > 0)
    partials =
        code.loop(first, code.add(first, code.integer(main)), kPartials, partials,
                  [&](Value column, ValueRange carried) {
                    return accumulate(code, lanes, combines, column, carried, elements, whole);
                  });
  if (count > main)
    partials = accumulate(
        code, lanes, combines, code.add(first, code.integer(main)), partials, elements,
        [&](unsigned group) {
          int64_t left = count - main - static_cast<int64_t>(group) * lanes;
          return left <= 0 ? std::nullopt
                           : std::optional(code.firstLanes(std::min<int64_t>(left, lanes), lanes));
        });
  return foldAll(code, lanes, combines, partials);
}

Values reduceChunk(Code &code, const CpuVariant &variant, ArrayRef<Combine> combines, Value first,
                   Value count, Elements elements) {
  unsigned lanes = variant.rowLanes;
  auto whole = [](unsigned) { return std::optional<Value>(Value()); };
  Value main = code.roundDown(count, kPartials), end = code.add(first, main),
        left = code.subtract(count, main);
  Values partials =
      code.loop(first, end, kPartials, startPartials(code, lanes, combines),
                [&](Value column, ValueRange carried) {
                  return accumulate(code, lanes, combines, column, carried, elements, whole);
                });
  partials = code.when(code.less(code.integer(0), left), partials, [&] {
    return accumulate(code, lanes, combines, end, partials, elements, [&](unsigned group) {
      return std::optional(
          code.firstLanes(code.subtract(left, code.integer(group * lanes)), lanes));
    });
  });
  return foldAll(code, lanes, combines, partials);
}

Values reduceRow(Code &code, const CpuVariant &variant, ArrayRef<Combine> combines, int64_t columns,
                 Elements elements) {
  if (columns <= kChunk)
    return reduceChunk(code, variant, combines, code.integer(0), columns, elements);
  int64_t chunks = (columns + kChunk - 1) / kChunk;
  Values memory;
  for (size_t i = 0; i < combines.size(); ++i)
    memory.push_back(code.scratch(code.f32(), chunks));
  auto keep = [&](Value chunk, const Values &results) {
    for (size_t i = 0; i < combines.size(); ++i)
      code.store(results[i], code.address(memory[i], code.f32(), chunk));
  };
  code.loop(code.integer(0), code.integer(columns / kChunk), 1, [&](Value chunk) {
    keep(chunk, reduceChunk(code, variant, combines, code.multiply(chunk, code.integer(kChunk)),
                            kChunk, elements));
  });
  if (int64_t left = columns % kChunk)
    keep(code.integer(chunks - 1),
         reduceChunk(code, variant, combines, code.integer(columns - left), left, elements));
  Values results;
  for (size_t i = 0; i < combines.size(); ++i)
    results.push_back(reduceMemory(code, variant, combines[i], memory[i], code.integer(chunks)));
  return results;
}

/// The chunk of `count` floats in memory; a single one is its own result.
static Value reduceResults(Code &code, const CpuVariant &variant, Combine combine, Value pointer,
                           Value count) {
  Value only = code.load(code.f32(), pointer);
  return code.when(code.less(code.integer(1), count), {only}, [&] {
    return reduceChunk(code, variant, {combine}, code.integer(0), count,
                       [&](Value column, Value mask, unsigned lanes) {
                         return Values{code.load(code.vector(code.f32(), lanes),
                                                 code.address(pointer, code.f32(), column), mask)};
                       });
  })[0];
}

/// kChunk chunks are a batch.
Values reduceRow(Code &code, const CpuVariant &variant, ArrayRef<Combine> combines, Value columns,
                 Elements elements) {
  Values ofChunks, ofBatches;
  for (size_t i = 0; i < combines.size(); ++i) {
    ofChunks.push_back(code.scratch(code.f32(), kChunk));
    ofBatches.push_back(code.scratch(code.f32(), kChunk));
  }
  Value chunks = code.ceilDivide(columns, kChunk), batches = code.ceilDivide(chunks, kChunk);
  code.loop(code.integer(0), batches, 1, [&](Value batch) {
    Value start = code.multiply(batch, code.integer(kChunk));
    Value count = code.minimum(code.integer(kChunk), code.subtract(chunks, start));
    code.loop(code.integer(0), count, 1, [&](Value chunk) {
      Value first = code.multiply(code.add(start, chunk), code.integer(kChunk));
      Value length = code.minimum(code.integer(kChunk), code.subtract(columns, first));
      Values results = reduceChunk(code, variant, combines, first, length, elements);
      for (auto [memory, result] : llvm::zip(ofChunks, results))
        code.store(result, code.address(memory, code.f32(), chunk));
    });
    for (auto [combine, memory, results] : llvm::zip(combines, ofChunks, ofBatches))
      code.store(reduceResults(code, variant, combine, memory, count),
                 code.address(results, code.f32(), batch));
  });
  Values results;
  for (auto [combine, memory] : llvm::zip(combines, ofBatches))
    results.push_back(reduceResults(code, variant, combine, memory, batches));
  return results;
}

Value reduceMemory(Code &code, const CpuVariant &variant, Combine combine, Value pointer,
                   Value count) {
  auto load = [&](Value column, Value mask, unsigned lanes) {
    return Values{
        code.load(code.vector(code.f32(), lanes), code.address(pointer, code.f32(), column), mask)};
  };
  // Two levels of chunks below the last one are enough for 2^30 values; a result is written no
  // later than it is read.
  for (int level = 0; level < 2; ++level)
    count = code.when(code.less(code.integer(kChunk), count), {count}, [&] {
      Value chunks = code.ceilDivide(count, kChunk);
      code.loop(code.integer(0), chunks, 1, [&](Value chunk) {
        Value first = code.multiply(chunk, code.integer(kChunk));
        Value length = code.minimum(code.integer(kChunk), code.subtract(count, first));
        Value result = reduceChunk(code, variant, {combine}, first, length, load)[0];
        code.store(result, code.address(pointer, code.f32(), chunk));
      });
      return Values{chunks};
    })[0];
  return reduceChunk(code, variant, {combine}, code.integer(0), count, load)[0];
}

} // namespace halftone::cpu

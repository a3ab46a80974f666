// SPDX-License-Identifier: Apache-2.0
// Shorthand for the operations that loop nests are made of. Integers are i64 and pointers opaque;
// indices count elements; vectors are loaded and stored with the alignment of their elements, and a
// null mask means all lanes.
#ifndef HALFTONE_EMIT_CPU_CODE_H
#define HALFTONE_EMIT_CPU_CODE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectRegistry.h"

namespace halftone::cpu {

using mlir::Type;
using mlir::Value;
using Values = llvm::SmallVector<Value>;

inline constexpr unsigned kLine = 64; // bytes that caches hold together

class Code {
public:
  Code(mlir::OpBuilder builder, mlir::Location location) : builder(builder), loc(location) {}

  mlir::OpBuilder builder;
  mlir::Location loc;

  Type i64() { return builder.getI64Type(); }
  Type f32() { return builder.getF32Type(); }
  Type pointer();
  mlir::VectorType vector(Type element, unsigned lanes) {
    return mlir::VectorType::get({lanes}, element);
  }

  Value integer(int64_t value);
  Value real(float value);
  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b);
  Value divide(Value a, Value b); // both not negative
  Value divide(Value a, int64_t b) { return divide(a, integer(b)); }
  Value remainder(Value a, Value b);  // both not negative
  Value ceilDivide(Value a, Value b); // both not negative
  Value ceilDivide(Value a, int64_t b) { return ceilDivide(a, integer(b)); }
  Value roundDown(Value a, int64_t b); // to a multiple of b
  Value minimum(Value a, Value b);
  Value maximum(Value a, Value b);
  Value less(Value a, Value b);
  Value equal(Value a, Value b);
  Value select(Value condition, Value a, Value b);

  Value address(Value pointer, Type element, Value index);
  Value load(Type type, Value pointer, Value mask = {}); // masked-off lanes are zero
  void store(Value value, Value pointer, Value mask = {});
  /// To whole cache lines, which are not fetched before and not kept after. A fence must follow
  /// before other threads may read.
  void storePastCaches(Value vector, Value pointer);
  /// Has the line at `pointer` brought into the first-level cache; any address will do.
  void prefetch(Value pointer);
  /// pointer[indices[lane]] for every lane of `mask`, zero for the others.
  Value gather(Type element, Value pointer, Value indices, Value mask);
  /// Stack memory for `elements` of `element`, allocated at the function's entry.
  Value scratch(Type element, int64_t elements);

  Value splat(Value scalar, unsigned lanes);
  Value splat(float value, unsigned lanes) { return splat(real(value), lanes); }
  Value firstLane(Value vector);
  /// `lanes` lanes of `vector` from lane `from`.
  Value slice(Value vector, int64_t from, int64_t lanes);
  /// `vector` with `part` in its lanes from `from`.
  Value insert(Value part, Value vector, int64_t from);
  /// The lanes that `lanes` lists, counted through `a` and on through `b`.
  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> lanes);
  /// 0, 1, ... lanes - 1 of an integer type.
  Value lanesOf(Type integer, unsigned lanes);
  /// The mask of the first `count` lanes; none when `count` is the number of lanes.
  Value firstLanes(int64_t count, unsigned lanes);
  Value firstLanes(Value count, unsigned lanes);

  Value callIntrinsic(llvm::StringRef name, Type result, mlir::ValueRange operands);
  /// Exchanges rows and columns of a square of vectors, in steps that swap blocks of half its side,
  /// a quarter, and so on to 1.
  void transpose(Values &rows);

  using Body = llvm::function_ref<void(Value index)>;
  using CarryingBody = llvm::function_ref<Values(Value index, mlir::ValueRange carried)>;
  void loop(Value first, Value last, Value step, Body body);
  void loop(Value first, Value last, int64_t step, Body body) {
    loop(first, last, integer(step), body);
  }
  Values loop(Value first, Value last, Value step, mlir::ValueRange initial, CarryingBody body);
  Values loop(Value first, Value last, int64_t step, mlir::ValueRange initial, CarryingBody body) {
    return loop(first, last, integer(step), initial, body);
  }
  void when(Value condition, llvm::function_ref<void()> body);
  void when(Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise);
  /// The values of `body` where the condition holds, else `otherwise`.
  Values when(Value condition, mlir::ValueRange otherwise, llvm::function_ref<Values()> body);

private:
  struct PairedMask {
    Value pairs;      // of half as many lanes, each twice as wide
    Value rest, some; // the other lanes, and whether there are any
  };
  PairedMask pairUp(Value mask);
};

/// The dialects of the operations that loop nests are made of.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace halftone::cpu

#endif

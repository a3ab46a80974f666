// SPDX-License-Identifier: Apache-2.0
// The reduction trees N2 and N4 as code.
#ifndef HALFTONE_EMIT_CPU_TREES_H
#define HALFTONE_EMIT_CPU_TREES_H

#include "codegen/emit/cpu/Code.h"
#include "codegen/emit/cpu/Variants.h"
#include "mlir/IR/BuiltinOps.h"

namespace halftone::cpu {

inline constexpr int64_t kPartials = 32, kChunk = 1024;

enum class Combine { Sum, Maximum };

/// The elements of one reduction at columns [column, column + lanes) under `mask`: one vector per
/// reduction.
using Elements = llvm::function_ref<Values(Value column, Value mask, unsigned lanes)>;

/// Reduces columns [0, count) of one chunk, count at most kChunk: several reductions in one pass.
Values reduceChunk(Code &code, const CpuVariant &variant, llvm::ArrayRef<Combine> combines,
                   Value first, int64_t count, Elements elements);
Values reduceChunk(Code &code, const CpuVariant &variant, llvm::ArrayRef<Combine> combines,
                   Value first, Value count, Elements elements);

/// Reduces columns [0, columns) of a row of any length; as a value it is at most 2^30.
Values reduceRow(Code &code, const CpuVariant &variant, llvm::ArrayRef<Combine> combines,
                 int64_t columns, Elements elements);
Values reduceRow(Code &code, const CpuVariant &variant, llvm::ArrayRef<Combine> combines,
                 Value columns, Elements elements);

/// The tree over `count` floats in memory, which it overwrites.
Value reduceMemory(Code &code, const CpuVariant &variant, Combine combine, Value pointer,
                   Value count);

} // namespace halftone::cpu

#endif

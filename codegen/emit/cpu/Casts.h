// SPDX-License-Identifier: Apache-2.0
// Every conversion between f32 and the narrow formats, by F1 to F4 of docs/spec/precision.md. In
// memory and registers an f16 or bf16 value is its code, an i16, one of 8 bits an i8, and a tf32
// value is an f32, so that LLVM never rounds to half or bfloat: there it calls functions that g++
// 12's runtime lacks, or uses AVX512-BF16, which flushes subnormals.
#ifndef HALFTONE_EMIT_CPU_CASTS_H
#define HALFTONE_EMIT_CPU_CASTS_H

#include "codegen/emit/cpu/Code.h"
#include "codegen/emit/cpu/Variants.h"
#include "codegen/ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace halftone::cpu {

/// What holds one value of an element type: an integer of its bits for codes, f32 for tf32, for
/// integers their bits without a word on the sign, else the type.
Type storageOf(Type element);

/// Whether values of the type are codes, narrower than the f32 they stand for.
inline bool isCode(Type element) { return ir::isShort(element); }

/// The i32 that `stored`, a scalar or a vector of the storage of delivered integers, stands for, -1
/// where i32 does not hold it (D16); or that as f32.
Value integerOf(Code &code, Type format, Value stored, Type to);

/// An i32 that 16 bits hold as such a one (Low16Op).
Value low16(Code &code, Value word);

/// The f32 value of `stored`, a scalar or a vector of the storage of `format`; exact (F4).
Value widen(Code &code, const CpuVariant &variant, Type format, Value stored);

/// The f32 `value`, a scalar or a vector, rounded to `format`: its storage (F2, F3).
Value narrow(Code &code, const CpuVariant &variant, Type format, mlir::arith::RoundingMode rounding,
             Value value);

/// The storage of a constant of a narrow format.
Value narrowConstant(Code &code, const llvm::APFloat &constant, Type format);

/// Fails where a region of the kernel converts otherwise than the functions above can.
llvm::LogicalResult verifyCasts(ir::KernelOp kernel);

} // namespace halftone::cpu

#endif

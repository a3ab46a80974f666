// SPDX-License-Identifier: Apache-2.0
#include "mutants.hpp"

namespace halftone::tests {

namespace {

constexpr auto k75 = Chips::sm_75, k80 = Chips::from_sm_80;

constexpr Mutant kMutants[] = {
    {"truncation to f16", "digits_f16", "pixels",
     "if (rounding == Rounding::nearest_even) return {ptx::cvt_rn_f16_f32(x)};",
     "if (rounding != Rounding::nearest_even) return {ptx::cvt_rn_f16_f32(x)};"},
    {"truncation to bf16 by the instruction", "digits_bf16", "pixels", "cvt.rn.bf16.f32",
     "cvt.rz.bf16.f32", k80},
    {"truncation to bf16 by shifts", "digits_bf16", "pixels",
     "if (rounding == Rounding::nearest_even) value +=",
     "if (rounding == Rounding::toward_zero) value +=", k75},
    {"ties to bf16 away from zero", "digits_bf16", "pixels", "(1u << (count - 1)) - 1u + odd",
     "(1u << (count - 1))", k75, 300},
    {"no rounding to tf32", "digits_tf32", "pixels", "drop_bits(bits_of(x), 13, rounding) << 13",
     "bits_of(x)", k80},
    {"no canonical NaN of bf16", "digits_bf16", "pixels",
     "x != x ? 0x7fffu : drop_bits(bits_of(x), 16, rounding)",
     "drop_bits(bits_of(x), 16, rounding)", k75},
    {"no canonical NaN of tf32", "digits_tf32", "norm",
     "x != x ? 0x7fffffffu : drop_bits(bits_of(x), 13, rounding) << 13",
     "drop_bits(bits_of(x), 13, rounding) << 13", k80},
    {"saved value nearest instead of toward zero", "mixed_rules", "gate",
     "halftone::kernels::Rounding::toward_zero)", "halftone::kernels::Rounding::nearest_even)"},
    {"words of a stored vector reversed", "digits", "update", "values + i * (kWidth / kWords)",
     "values + (kWords - 1 - i) * (kWidth / kWords)"},
    {"elements of a loaded vector swapped", "digits", "norm",
     "reinterpret_cast<const float4*>(pointer);\n  values[0] = vector.x, values[1] = vector.y",
     "reinterpret_cast<const float4*>(pointer);\n  values[0] = vector.y, values[1] = vector.x"},
    {"vectors stored at odd addresses", "odd_sizes", "norm",
     "first + kWidth <= columns && is_vector_aligned<kWidth>(row + first)) {\n        store_result",
     "first + kWidth <= columns) {\n        store_result"},
    {"vectors loaded at odd addresses", "odd_sizes", "norm",
     "first + kWidth <= columns && is_vector_aligned<kWidth>(row + first);",
     "first + kWidth <= columns;"},
    {"elements past a row's end stored", "odd_sizes", "norm",
     "if (first + i < columns) row[first + i] = values[i];", "row[first + i] = values[i];"},
    {"elements past a row's end loaded", "odd_sizes", "norm",
     "first + i >= 0 && first + i < columns ? row[first + i] : outside", "row[first + i]"},
    {"last elements left out", "digits", "update", "if (column >= body.columns()) return;",
     "if (column + kWidth >= body.columns()) return;"},
    {"threads' elements overlap", "digits", "update",
     "Column column = static_cast<Column>(kWidth * group);",
     "Column column = static_cast<Column>(group);"},
    {"no weight decay for one parameter too few", "digits", "update",
     "(row * columns() + column) < v", "(row * columns() + column) <= v"},
    {"update applied in a skipped step", "digits", "update", "= uniforms.input5 > ",
     "= uniforms.input5 >= "},
    {"square root toward zero", "digits", "update", "__fsqrt_rn(", "__fsqrt_rz("},
    {"quotient toward zero", "digits", "update", "__fdiv_rn(", "__fdiv_rz("},
    {"product and sum rounded apart", "digits", "norm", "__fmaf_rn(", "__fmaf_ru("},
    {"label of one row for all", "digits", "xent", "input1[row]", "input1[0]"},
};

}  // namespace

std::span<const Mutant> element_mutants() { return kMutants; }

}  // namespace halftone::tests

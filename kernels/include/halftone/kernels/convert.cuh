// SPDX-License-Identifier: Apache-2.0
// The formats that tensors are stored in beside f32 and i32, read exactly and rounded by F1 to F4
// of docs/spec/precision.md. f16 and bf16 are codes of 16 bits; a tf32 is a float whose low 13 bits
// are zero. Also compiles on the host, where integer code stands for the instructions of ptx.cuh.
#pragma once

#include "halftone/kernels/ptx.cuh"

#if defined(__CUDACC__)
#define HALFTONE_DEVICE __device__ __forceinline__
#else
#define HALFTONE_DEVICE inline
#endif

namespace halftone::kernels {

struct f16 {
  unsigned short code;
};
struct bf16 {
  unsigned short code;
};

enum class Rounding { nearest_even, toward_zero };

HALFTONE_DEVICE unsigned int bits_of(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return __builtin_bit_cast(unsigned int, x);
#endif
}

HALFTONE_DEVICE float float_of(unsigned int bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

/// value / 2^count, rounded. A carry runs on into the exponent of a float's bits, as it should:
/// past the largest finite value lies the code of infinity, and infinity itself has nothing to
/// drop.
HALFTONE_DEVICE unsigned int drop_bits(unsigned int value, int count, Rounding rounding) {
  const unsigned int odd = value >> count & 1u;
  if (rounding == Rounding::nearest_even) value += (1u << (count - 1)) - 1u + odd;
  return value >> count;
}

#if !defined(__CUDA_ARCH__)
/// What cvt.rn.f16.f32 and cvt.rz.f16.f32 give for an x that is not NaN.
inline unsigned int f16_code(float x, Rounding rounding) {
  const unsigned int sign = bits_of(x) >> 16 & 0x8000u, magnitude = bits_of(x) & 0x7fffffffu;
  if (magnitude >= 0x47800000u) {  // 2^16 and above
    const bool stays_finite = rounding == Rounding::toward_zero && magnitude != 0x7f800000u;
    return sign | (stays_finite ? 0x7bffu : 0x7c00u);
  }
  if (magnitude >= 0x38800000u)  // 2^-14 and above: normal in f16
    return sign | drop_bits(magnitude - 0x38000000u, 13, rounding);
  if (magnitude < 0x33000000u) return sign;  // below half of the smallest subnormal, 2^-24
  const unsigned int significand = 0x800000u | (magnitude & 0x7fffffu);
  return sign | drop_bits(significand, 126 - static_cast<int>(magnitude >> 23), rounding);
}
#endif

HALFTONE_DEVICE f16 to_f16(float x, Rounding rounding = Rounding::nearest_even) {
#if defined(__CUDA_ARCH__)
  if (rounding == Rounding::nearest_even) return {ptx::cvt_rn_f16_f32(x)};
  const unsigned int code = ptx::cvt_rz_f16_f32(x);
#else
  const unsigned int code = f16_code(x, rounding);
#endif
  return {static_cast<unsigned short>(x != x ? 0x7fffu : code)};
}

HALFTONE_DEVICE bf16 to_bf16(float x, Rounding rounding = Rounding::nearest_even) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (rounding == Rounding::nearest_even) return {ptx::cvt_rn_bf16_f32(x)};
#endif
  return {static_cast<unsigned short>(x != x ? 0x7fffu : drop_bits(bits_of(x), 16, rounding))};
}

HALFTONE_DEVICE float to_tf32(float x, Rounding rounding = Rounding::nearest_even) {
  return float_of(x != x ? 0x7fffffffu : drop_bits(bits_of(x), 13, rounding) << 13);
}

HALFTONE_DEVICE float widen(f16 x) {
#if defined(__CUDA_ARCH__)
  return ptx::cvt_f32_f16(x.code);
#else
  const unsigned int sign = (x.code & 0x8000u) << 16, magnitude = x.code & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | magnitude << 13);
  if (magnitude >= 0x0400u) return float_of(sign | ((magnitude << 13) + 0x38000000u));
  return float_of(sign | bits_of(static_cast<float>(magnitude) * 0x1p-24f));  // subnormal or zero
#endif
}

HALFTONE_DEVICE float widen(bf16 x) { return float_of(static_cast<unsigned int>(x.code) << 16); }
HALFTONE_DEVICE float widen(float x) { return x; }  ///< f32 or tf32

/// -0 as the pointer's format stores it.
HALFTONE_DEVICE f16 minus_zero(const f16*) { return {0x8000}; }
HALFTONE_DEVICE bf16 minus_zero(const bf16*) { return {0x8000}; }
HALFTONE_DEVICE float minus_zero(const float*) { return -0.0f; }

}  // namespace halftone::kernels

// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits, read exactly and rounded by F1 to F4 of docs/spec/precision.md: codes of types
// of their own, of which four neighbours go as one access of 4 bytes. Also compiles on the host,
// but for the accesses. The same integer code everywhere: cvt.rn.satfinite, which chips have from
// sm_89 on, saturates.
#pragma once

#include "halftone/kernels/convert.cuh"
#if defined(__CUDACC__) || defined(__device__)  // compiled by NVRTC, or emulated
#include "halftone/kernels/load_store.cuh"
#endif

namespace halftone::kernels {

template <int kExponentBits>
struct float8 {
  unsigned char code;
};
using f8e4m3 = float8<4>;
using f8e5m2 = float8<5>;

/// `kBeyond`: the code behind the largest number's, of infinity or of the only NaN.
template <int kExponentBits, unsigned int kBeyond>
HALFTONE_DEVICE float8<kExponentBits> to_float8(float x, Rounding rounding) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1, kDropped = 16 + kExponentBits;
  constexpr unsigned int kInfinity = 0x7f800000u, kNaN = 0x7fu;
  const unsigned int sign = bits_of(x) >> 24 & 0x80u, magnitude = bits_of(x) & 0x7fffffffu;
  const int exponent = static_cast<int>(magnitude >> 23),
            digits = kDropped + 128 - kBias - exponent;
  unsigned int code = 0;  // of what is below half of the smallest subnormal
  if (digits <= kDropped) {
    code =
        drop_bits(magnitude - (static_cast<unsigned int>(127 - kBias) << 23), kDropped, rounding);
  } else if (digits <= 24) {
    code = drop_bits(0x800000u | (magnitude & 0x7fffffu), digits, rounding);
  }
  const bool stays_finite = rounding == Rounding::toward_zero && magnitude != kInfinity;
  const unsigned int most = stays_finite ? kBeyond - 1 : kBeyond;
  if (code > most) code = most;
  const bool is_nan = magnitude > kInfinity || code == kNaN;
  return {static_cast<unsigned char>(is_nan ? kNaN : sign | code)};
}

HALFTONE_DEVICE f8e4m3 to_f8e4m3(float x, Rounding rounding = Rounding::nearest_even) {
  return to_float8<4, 0x7fu>(x, rounding);
}
HALFTONE_DEVICE f8e5m2 to_f8e5m2(float x, Rounding rounding = Rounding::nearest_even) {
  return to_float8<5, 0x7cu>(x, rounding);
}

/// A code is the upper half of an f16's.
HALFTONE_DEVICE float widen(f8e5m2 x) {
  return widen(f16{static_cast<unsigned short>(x.code << 8)});
}

/// Exponent and mantissa are those of an f16 2^8 times smaller, subnormal numbers included.
HALFTONE_DEVICE float widen(f8e4m3 x) {
  const unsigned int sign = x.code & 0x80u, magnitude = x.code & 0x7fu;
  const float smaller = widen(f16{static_cast<unsigned short>(sign << 8 | magnitude << 7)});
  return magnitude == 0x7fu ? float_of(0x7fffffffu) : smaller * 256.0f;
}

/// -0 as the pointer's format stores it.
template <int kExponentBits>
HALFTONE_DEVICE float8<kExponentBits> minus_zero(const float8<kExponentBits>*) {
  return {0x80};
}

#if defined(__CUDACC__) || defined(__device__)
template <int kExponentBits>
__device__ __forceinline__ void load_vector(const float8<kExponentBits>* pointer,
                                            float8<kExponentBits> (&values)[4]) {
  const unsigned int word = *reinterpret_cast<const unsigned int*>(pointer);
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = {static_cast<unsigned char>(word >> (8 * i))};
}

template <int kExponentBits>
__device__ __forceinline__ void store_vector(float8<kExponentBits>* pointer,
                                             const float8<kExponentBits> (&values)[4]) {
  *reinterpret_cast<unsigned int*>(pointer) = values[0].code |
                                              static_cast<unsigned int>(values[1].code) << 8 |
                                              static_cast<unsigned int>(values[2].code) << 16 |
                                              static_cast<unsigned int>(values[3].code) << 24;
}

template <int kExponentBits>
__device__ __forceinline__ void store_result(float8<kExponentBits>* pointer,
                                             const float8<kExponentBits> (&values)[4]) {
  store_vector(pointer, values);
}
#endif

}  // namespace halftone::kernels

// SPDX-License-Identifier: Apache-2.0
// How operands reach registers and results memory, whatever their format: four neighbouring values,
// or eight of 16 bits, go as one access of 8 or 16 bytes where the address is a multiple of that,
// and one by one where it is not or where a row ends among them.
#pragma once

#include "halftone/kernels/ptx.cuh"

namespace halftone::kernels {

template <int kWidth, class T>
__device__ __forceinline__ bool is_vector_aligned(const T* pointer) {
  return (reinterpret_cast<unsigned long long>(pointer) & (kWidth * sizeof(T) - 1)) == 0;
}

__device__ __forceinline__ unsigned int word_of(const float* values) {
  return __float_as_uint(*values);
}
__device__ __forceinline__ unsigned int word_of(const int* values) {
  return static_cast<unsigned int>(*values);
}
/// Two codes of f16 or bf16.
template <class T>
__device__ __forceinline__ unsigned int word_of(const T* values) {
  return values[0].code | static_cast<unsigned int>(values[1].code) << 16;
}

__device__ __forceinline__ void load_vector(const float* pointer, float (&values)[4]) {
  const float4 vector = *reinterpret_cast<const float4*>(pointer);
  values[0] = vector.x, values[1] = vector.y, values[2] = vector.z, values[3] = vector.w;
}

__device__ __forceinline__ void load_vector(const int* pointer, int (&values)[4]) {
  const int4 vector = *reinterpret_cast<const int4*>(pointer);
  values[0] = vector.x, values[1] = vector.y, values[2] = vector.z, values[3] = vector.w;
}

/// f16 and bf16.
template <class T>
__device__ __forceinline__ void load_vector(const T* pointer, T (&values)[4]) {
  const ushort4 vector = *reinterpret_cast<const ushort4*>(pointer);
  values[0] = {vector.x}, values[1] = {vector.y}, values[2] = {vector.z}, values[3] = {vector.w};
}

__device__ __forceinline__ void store_vector(float* pointer, const float (&values)[4]) {
  *reinterpret_cast<float4*>(pointer) = make_float4(values[0], values[1], values[2], values[3]);
}

__device__ __forceinline__ void store_vector(int* pointer, const int (&values)[4]) {
  *reinterpret_cast<int4*>(pointer) = make_int4(values[0], values[1], values[2], values[3]);
}

/// f16 and bf16.
template <class T>
__device__ __forceinline__ void store_vector(T* pointer, const T (&values)[4]) {
  *reinterpret_cast<ushort4*>(pointer) =
      make_ushort4(values[0].code, values[1].code, values[2].code, values[3].code);
}

/// Eight codes in four words.
template <class T>
__device__ __forceinline__ void load_vector(const T* pointer, T (&values)[8]) {
  const uint4 vector = *reinterpret_cast<const uint4*>(pointer);
  const unsigned int words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int i = 0; i < 8; ++i)
    values[i] = {static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16))};
}

template <class T>
__device__ __forceinline__ void store_vector(T* pointer, const T (&values)[8]) {
  *reinterpret_cast<uint4*>(pointer) =
      make_uint4(word_of(values), word_of(values + 2), word_of(values + 4), word_of(values + 6));
}

/// As store_vector, in global memory.
template <class T, int kWidth>
__device__ __forceinline__ void store_result(T* pointer, const T (&values)[kWidth]) {
#if defined(__CUDA_ARCH__)
  constexpr int kWords = kWidth * static_cast<int>(sizeof(T)) / 4;
  unsigned int words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = word_of(values + i * (kWidth / kWords));
  ptx::st_global(pointer, words);
#else
  store_vector(pointer, values);
#endif
}

/// values[i] = row[first + i], or `outside` where first + i is not in [0, columns).
template <class T, int kWidth, class Column>
__device__ __forceinline__ void load(const T* row, Column first, Column columns,
                                     T (&values)[kWidth], T outside = T{}) {
  if constexpr (kWidth == 8 && sizeof(T) != 2) {
    load(row, first, columns, reinterpret_cast<T(&)[4]>(values[0]), outside);
    load(row, first + 4, columns, reinterpret_cast<T(&)[4]>(values[4]), outside);
  } else {
    // An array of its own: of those that branches write NVVM keeps some in memory from sm_100 on.
    T found[kWidth];
    bool is_whole = false;
    if constexpr (kWidth >= 4) {
      is_whole = first >= 0 && first + kWidth <= columns && is_vector_aligned<kWidth>(row + first);
      if (is_whole) load_vector(row + first, found);
    }
    if (!is_whole) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        found[i] = first + i >= 0 && first + i < columns ? row[first + i] : outside;
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) values[i] = found[i];
  }
}

/// row[first + i] = values[i] where first + i is in [0, columns).
template <class T, int kWidth, class Column>
__device__ __forceinline__ void store(T* row, Column first, Column columns,
                                      const T (&values)[kWidth]) {
  if constexpr (kWidth == 8 && sizeof(T) != 2) {
    store(row, first, columns, reinterpret_cast<const T(&)[4]>(values[0]));
    store(row, first + 4, columns, reinterpret_cast<const T(&)[4]>(values[4]));
  } else {
    if constexpr (kWidth >= 4) {
      if (first + kWidth <= columns && is_vector_aligned<kWidth>(row + first)) {
        store_result(row + first, values);
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (first + i < columns) row[first + i] = values[i];
    }
  }
}

}  // namespace halftone::kernels

// SPDX-License-Identifier: Apache-2.0
// Integers that inputs are delivered in (D16 of docs/spec/description.md), and remainders of masters
// (P69 of docs/spec/precision.md): types of their own, as f16 and bf16 have, so that load() of
// load_store.cuh finds how four of them lie in memory.
#pragma once

#include "halftone/kernels/load_store.cuh"

namespace halftone::kernels {

struct u8 {
  unsigned char code;
};
struct i8 {
  signed char code;
};
struct u16 {
  unsigned short code;
};
struct i16 {
  unsigned short code;
};
struct i64 {
  long long code;
};

__device__ __forceinline__ int integer_of(u8 x) { return x.code; }
__device__ __forceinline__ int integer_of(i8 x) { return x.code; }
__device__ __forceinline__ int integer_of(u16 x) { return x.code; }
__device__ __forceinline__ int integer_of(i16 x) { return static_cast<short>(x.code); }
/// Of an int that a short holds.
__device__ __forceinline__ i16 low16(int x) { return {static_cast<unsigned short>(x)}; }
/// -1 where an int does not hold it.
__device__ __forceinline__ int integer_of(i64 x) {
  const int low = static_cast<int>(x.code);
  return low == x.code ? low : -1;
}

__device__ __forceinline__ void load_vector(const u8* pointer, u8 (&values)[4]) {
  const uchar4 vector = *reinterpret_cast<const uchar4*>(pointer);
  values[0] = {vector.x}, values[1] = {vector.y}, values[2] = {vector.z}, values[3] = {vector.w};
}
__device__ __forceinline__ void load_vector(const i8* pointer, i8 (&values)[4]) {
  const char4 vector = *reinterpret_cast<const char4*>(pointer);
  values[0] = {vector.x}, values[1] = {vector.y}, values[2] = {vector.z}, values[3] = {vector.w};
}
__device__ __forceinline__ void load_vector(const i64* pointer, i64 (&values)[4]) {
  const longlong2 first = *reinterpret_cast<const longlong2*>(pointer);
  const longlong2 last = *reinterpret_cast<const longlong2*>(pointer + 2);
  values[0] = {first.x}, values[1] = {first.y}, values[2] = {last.x}, values[3] = {last.y};
}

}  // namespace halftone::kernels

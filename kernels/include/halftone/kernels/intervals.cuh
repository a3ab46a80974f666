// SPDX-License-Identifier: Apache-2.0
// What is known of all elements of a block at once: integers between two bounds, and conditions of
// them. So attention finds the blocks of which a mask keeps nothing, or everything. No bound
// exceeds 2^30 in size, or those of a sum 2^31.
#pragma once

namespace halftone::kernels {

/// How many elements of a block count.
enum class Kept { none, some, all };

struct Range {
  int low, high;  ///< both of them as well
};

/// Whether a condition holds for all elements, and whether it does for some: false, true where
/// nothing is known.
struct Truth {
  bool must, may;
};

__device__ __forceinline__ constexpr Range operator+(Range a, Range b) {
  return {a.low + b.low, a.high + b.high};
}
__device__ __forceinline__ constexpr Range operator-(Range a, Range b) {
  return {a.low - b.high, a.high - b.low};
}

__device__ __forceinline__ constexpr Truth less(Range a, Range b) {
  return {a.high < b.low, a.low < b.high};
}
__device__ __forceinline__ constexpr Truth at_most(Range a, Range b) {
  return {a.high <= b.low, a.low <= b.high};
}
__device__ __forceinline__ constexpr Truth equal(Range a, Range b) {
  return {a.low == b.high && a.high == b.low, a.low <= b.high && b.low <= a.high};
}
__device__ __forceinline__ constexpr Truth negated(Truth a) { return {!a.may, !a.must}; }
__device__ __forceinline__ constexpr Truth both(Truth a, Truth b) {
  return {a.must && b.must, a.may && b.may};
}
__device__ __forceinline__ constexpr Truth either(Truth a, Truth b) {
  return {a.must || b.must, a.may || b.may};
}

__device__ __forceinline__ constexpr Kept kept_of(Truth counts) {
  return counts.must ? Kept::all : counts.may ? Kept::some : Kept::none;
}

}  // namespace halftone::kernels

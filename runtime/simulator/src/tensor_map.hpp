// SPDX-License-Identifier: Apache-2.0
// Tensor maps (CUtensorMap) and the tiled box copies of cp.async.bulk.tensor, and the swizzles they
// share with wgmma. A real CUtensorMap is opaque; this encoding is the simulator's own and is
// filled by its driver alone. Rules: CUDA driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5
// (tensors) and 5.5.6 (swizzling modes).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace halftone::simulator {

/// XORs bits of the shared-memory address; the pattern repeats every 8 spans, from address 0.
enum class Swizzle : std::uint8_t { none, span32, span64, span128 };

/// Numbered as CUtensorMapDataType.
enum class TensorElement : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };

inline constexpr int kMaxTensorRank = 5;

/// Dimension 0 is the contiguous one. Interleave is none.
struct TensorMap {
  std::uint64_t address = 0;
  TensorElement element = TensorElement::f32;
  Swizzle swizzle = Swizzle::none;
  bool fill_nan = false;  // what a load writes for elements outside the tensor: NaN instead of zero
  int rank = 1;
  std::array<std::uint64_t, kMaxTensorRank> extents{};       // in elements
  std::array<std::uint64_t, kMaxTensorRank> stride_bytes{};  // of dimensions 1 ..; [0] is not read
  std::array<std::uint32_t, kMaxTensorRank> box{};           // in elements of the tensor
  std::array<std::uint32_t, kMaxTensorRank> element_strides{1, 1, 1, 1, 1};  // [0] is not read

  int element_bytes() const;
  /// Elements that the box holds along a dimension: ceil(box / element stride), except along
  /// dimension 0.
  std::uint32_t box_elements(int dimension) const;
  /// Bytes of the box in shared memory; a load completes this many on its mbarrier, fill included.
  std::uint32_t box_bytes() const;
};

inline constexpr std::size_t kTensorMapBytes = 128;
using EncodedTensorMap = std::array<std::byte, kTensorMapBytes>;

/// Empty, or one sentence: the rule of cuTensorMapEncodeTiled that the map breaks.
std::string problem_of(const TensorMap& map);
/// The map must have no problem.
EncodedTensorMap encode_tensor_map(const TensorMap& map);
/// Nothing when the bytes were not written by encode_tensor_map, or were changed since.
std::optional<TensorMap> decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes);

/// Where the bytes of a shared address really lie.
constexpr std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return address;
    case Swizzle::span32:
      return address ^ (address >> 7 & 1) << 4;
    case Swizzle::span64:
      return address ^ (address >> 7 & 3) << 4;
    case Swizzle::span128:
      return address ^ (address >> 7 & 7) << 4;
  }
  return address;
}
/// Alignment that a box needs in shared memory: a multiple of its pattern (128 bytes without one).
constexpr std::uint32_t box_alignment(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 128 : 128u << static_cast<int>(swizzle);
}

/// One contiguous row of a box: `bytes` at `offset` in the box before swizzling, of which [first,
/// last) lie in the tensor, from `address` on; first = last when the row lies outside.
struct BoxRow {
  std::uint64_t address = 0;
  std::uint32_t offset = 0, bytes = 0, first = 0, last = 0;
};

/// Calls f(BoxRow) for every row of the box at `corner` (tensor coordinates, may be negative or
/// past the end).
template <class F>
void for_each_box_row(const TensorMap& map, std::span<const std::int32_t> corner, F&& f);

/// The code that a load writes for elements outside the tensor.
std::uint64_t fill_pattern(const TensorMap& map);

/// A wgmma matrix descriptor (PTX ISA 9.0, 9.7.15.5.1.2): where a matrix lies in shared memory.
struct MatrixDescriptor {
  std::uint32_t address = 0, leading_bytes = 0, stride_bytes = 0, base_offset = 0;
  Swizzle swizzle = Swizzle::none;
};
MatrixDescriptor decode_descriptor(std::uint64_t bits);

/// The shared address of the element (mn, k) of an operand: mn counts rows of A or columns of B. Of
/// MN-major ones wgmma takes elements of 2 bytes alone, tcgen05.mma of 1, too.
std::uint32_t descriptor_address(const MatrixDescriptor& descriptor, bool k_major,
                                 int element_bytes, int mn, int k);

template <class F>
void for_each_box_row(const TensorMap& map, std::span<const std::int32_t> corner, F&& f) {
  const auto bytes = static_cast<std::uint32_t>(map.element_bytes());
  const std::uint32_t row_bytes = map.box_elements(0) * bytes;
  const std::int64_t start = corner[0], extent = static_cast<std::int64_t>(map.extents[0]);
  const auto clamped = [&](std::int64_t x) {
    return x < 0 ? 0 : x > map.box_elements(0) ? map.box_elements(0) : x;
  };
  const std::int64_t first = clamped(-start), last = clamped(extent - start);
  std::array<std::uint32_t, kMaxTensorRank> index{};
  for (std::uint32_t offset = 0;; offset += row_bytes) {
    bool inside = first < last;
    std::uint64_t address = map.address + static_cast<std::uint64_t>(start + first) * bytes;
    for (int d = 1; d < map.rank; ++d) {
      const std::int64_t at =
          corner[d] + static_cast<std::int64_t>(index[d]) * map.element_strides[d];
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.extents[d]);
      address += static_cast<std::uint64_t>(at) * map.stride_bytes[d];
    }
    BoxRow row{address, offset, row_bytes, static_cast<std::uint32_t>(first) * bytes,
               static_cast<std::uint32_t>(last) * bytes};
    if (!inside) row.first = row.last = 0;
    f(row);
    int d = 1;
    while (d < map.rank && ++index[d] == map.box_elements(d)) index[d++] = 0;
    if (d >= map.rank) return;
  }
}

}  // namespace halftone::simulator

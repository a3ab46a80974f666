// SPDX-License-Identifier: Apache-2.0
#include "tensor_map.hpp"

#include <cstring>
#include <type_traits>

namespace halftone::simulator {
namespace {

constexpr std::uint64_t kMagic = 0x70614d726f736e54;  // "TnsorMap"

// What the 128 bytes hold: 16 of mark, then the map.
struct Stored {
  std::uint64_t magic, checksum;
  std::uint64_t address;
  std::array<std::uint64_t, kMaxTensorRank - 1> stride_bytes;
  std::array<std::uint32_t, kMaxTensorRank> extents_minus_one;
  std::array<std::uint16_t, kMaxTensorRank> box;
  std::array<std::uint8_t, kMaxTensorRank> element_strides;
  std::uint8_t element, swizzle, fill_nan, rank;
  std::array<std::uint8_t, 13> zero;
};
static_assert(sizeof(Stored) <= kTensorMapBytes && std::is_trivially_copyable_v<Stored>);

std::uint64_t checksum_of(Stored stored) {
  stored.checksum = 0;
  std::array<unsigned char, sizeof(Stored)> bytes;
  std::memcpy(bytes.data(), &stored, sizeof stored);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

std::string of_dimension(int d) { return " of dimension " + std::to_string(d); }

}  // namespace

int TensorMap::element_bytes() const {
  constexpr std::array<int, 10> kBytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return kBytes[static_cast<std::size_t>(element)];
}

std::uint32_t TensorMap::box_elements(int dimension) const {
  if (dimension == 0) return box[0];
  return (box[dimension] + element_strides[dimension] - 1) / element_strides[dimension];
}

std::uint32_t TensorMap::box_bytes() const {
  auto bytes = static_cast<std::uint32_t>(element_bytes());
  for (int d = 0; d < rank; ++d) bytes *= box_elements(d);
  return bytes;
}

std::string problem_of(const TensorMap& map) {
  if (map.rank < 1 || map.rank > kMaxTensorRank) return "a tensor map has 1 to 5 dimensions";
  if (map.address % 16 != 0) return "the address of a tensor map must be a multiple of 16 bytes";
  const bool floating = map.element >= TensorElement::f16;
  if (map.fill_nan && !floating) return "only floating point tensors can be filled with NaN";
  for (int d = 0; d < map.rank; ++d) {
    if (map.extents[d] == 0 || map.extents[d] > std::uint64_t{1} << 32)
      return "the extent" + of_dimension(d) + " of a tensor map must be 1 to 2^32";
    if (map.box[d] == 0 || map.box[d] > 256)
      return "the box" + of_dimension(d) + " of a tensor map must be 1 to 256";
    if (d > 0 && (map.stride_bytes[d] % 16 != 0 || map.stride_bytes[d] >= std::uint64_t{1} << 40))
      return "the stride" + of_dimension(d) +
             " of a tensor map must be a multiple of 16 bytes below 2^40";
    if (d > 0 && (map.element_strides[d] == 0 || map.element_strides[d] > 8))
      return "the element stride" + of_dimension(d) + " of a tensor map must be 1 to 8";
  }
  const std::uint32_t row = map.box[0] * static_cast<std::uint32_t>(map.element_bytes());
  if (row % 16 != 0)
    return "a row of a tensor map's box must be a multiple of 16 bytes; it has " +
           std::to_string(row);
  const std::uint32_t span =
      map.swizzle == Swizzle::none ? row : 16u << static_cast<int>(map.swizzle);
  if (row > span)
    return "a row of a tensor map's box must fit in the swizzle's span; it has " +
           std::to_string(row);
  if (row < span)
    return "a row of a swizzled box must be as long as the swizzle's span, since no document says "
           "how shorter ones "
           "lie; it has " +
           std::to_string(row) + " bytes";
  return {};
}

EncodedTensorMap encode_tensor_map(const TensorMap& map) {
  Stored stored{};
  stored.magic = kMagic;
  stored.address = map.address;
  for (int d = 0; d < map.rank; ++d) {
    if (d > 0) stored.stride_bytes[d - 1] = map.stride_bytes[d];
    stored.extents_minus_one[d] = static_cast<std::uint32_t>(map.extents[d] - 1);
    stored.box[d] = static_cast<std::uint16_t>(map.box[d]);
    stored.element_strides[d] = static_cast<std::uint8_t>(map.element_strides[d]);
  }
  stored.element = static_cast<std::uint8_t>(map.element);
  stored.swizzle = static_cast<std::uint8_t>(map.swizzle);
  stored.fill_nan = map.fill_nan;
  stored.rank = static_cast<std::uint8_t>(map.rank);
  stored.checksum = checksum_of(stored);
  EncodedTensorMap bytes{};
  std::memcpy(bytes.data(), &stored, sizeof stored);
  return bytes;
}

std::optional<TensorMap> decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes) {
  Stored stored;
  std::memcpy(&stored, bytes.data(), sizeof stored);
  if (stored.magic != kMagic || stored.checksum != checksum_of(stored)) return std::nullopt;
  TensorMap map;
  map.address = stored.address;
  map.element = static_cast<TensorElement>(stored.element);
  map.swizzle = static_cast<Swizzle>(stored.swizzle);
  map.fill_nan = stored.fill_nan != 0;
  map.rank = stored.rank;
  for (int d = 0; d < map.rank; ++d) {
    if (d > 0) map.stride_bytes[d] = stored.stride_bytes[d - 1];
    map.extents[d] = std::uint64_t{stored.extents_minus_one[d]} + 1;
    map.box[d] = stored.box[d];
    map.element_strides[d] = stored.element_strides[d];
  }
  return map;
}

std::uint64_t fill_pattern(const TensorMap& map) {
  if (!map.fill_nan) return 0;
  switch (map.element) {
    case TensorElement::f16:
    case TensorElement::bf16:
      return 0x7fff;
    case TensorElement::f32:
      return 0x7fffffff;
    case TensorElement::f64:
      return 0x7fffffffffffffff;
    default:
      return 0;
  }
}

MatrixDescriptor decode_descriptor(std::uint64_t bits) {
  const auto field = [bits](int low, int count) {
    return static_cast<std::uint32_t>(bits >> low & ((std::uint64_t{1} << count) - 1));
  };
  constexpr std::array<Swizzle, 4> kModes = {Swizzle::none, Swizzle::span128, Swizzle::span64,
                                             Swizzle::span32};
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3),
          kModes[field(62, 2)]};
}

// Canonical layouts of PTX ISA 9.0, 9.7.15.5.1.1, in units of 16 bytes: with W units in a span (1
// without a swizzle), K-major ((8, m), 2 units of k) : ((W, stride), 1 or leading); MN-major ((W,
// m), (8, k)) : ((1, leading), (W, stride)), where leading and stride change places without a
// swizzle.
std::uint32_t descriptor_address(const MatrixDescriptor& descriptor, bool k_major,
                                 int element_bytes, int mn, int k) {
  const auto [address, leading, stride, base, swizzle] = descriptor;
  const std::uint32_t units = 1u << static_cast<int>(swizzle), m = static_cast<std::uint32_t>(mn);
  std::uint32_t offset;
  if (k_major) {
    const auto byte = static_cast<std::uint32_t>(k * element_bytes);
    offset = m % 8 * 16 * units + m / 8 * stride + byte % 16 +
             byte / 16 * (swizzle == Swizzle::none ? leading : 16);
  } else {
    const auto bytes = static_cast<std::uint32_t>(element_bytes), in_unit = 16 / bytes;
    const std::uint32_t unit = m / in_unit, depth = static_cast<std::uint32_t>(k);
    const bool plain = swizzle == Swizzle::none;
    offset = m % in_unit * bytes + unit % units * 16 + unit / units * (plain ? stride : leading) +
             depth % 8 * 16 * units + depth / 8 * (plain ? leading : stride);
  }
  return swizzled(address + offset, swizzle);
}

}  // namespace halftone::simulator

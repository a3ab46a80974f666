// SPDX-License-Identifier: Apache-2.0
// Box copies against loops over coordinates; wgmma descriptors against golden tables made from CuTe
// (golden/descriptors_from_cute.cpp).
#include "tensor_map.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace halftone::simulator;

namespace {

struct Case {
  const char* name;
  int rank;
  std::array<std::uint64_t, 5> extents;
  std::array<std::uint32_t, 5> box, element_strides;
  std::array<std::int32_t, 5> corner;
  Swizzle swizzle;
  bool fill_nan;
};

const Case kCases[] = {
    {"1D inside", 1, {64}, {16}, {1}, {8}, Swizzle::none, false},
    {"1D past the end", 1, {20}, {16}, {1}, {12}, Swizzle::none, false},
    {"1D before the start", 1, {20}, {16}, {1}, {-3}, Swizzle::none, true},
    {"1D wholly outside", 1, {20}, {16}, {1}, {40}, Swizzle::none, true},
    {"2D, span of 32", 2, {24, 11}, {8, 9}, {1, 1}, {16, 4}, Swizzle::span32, false},
    {"2D, span of 64", 2, {40, 11}, {16, 9}, {1, 1}, {30, -2}, Swizzle::span64, true},
    {"2D, span of 128", 2, {40, 30}, {32, 16}, {1, 1}, {-5, 7}, Swizzle::span128, false},
    {"2D, every third row", 2, {16, 20}, {8, 8}, {1, 3}, {4, 1}, Swizzle::none, false},
    {"3D", 3, {12, 5, 6}, {8, 3, 4}, {1, 1, 1}, {2, -1, 4}, Swizzle::span32, true},
    {"4D, strides",
     4,
     {8, 4, 5, 6},
     {4, 3, 5, 4},
     {1, 2, 1, 3},
     {1, 0, 1, 0},
     Swizzle::none,
     false},
    {"5D",
     5,
     {8, 3, 4, 3, 5},
     {8, 2, 3, 2, 2},
     {1, 1, 2, 1, 1},
     {-1, 1, -1, 2, 3},
     Swizzle::span32,
     false},
};

constexpr std::uint32_t kBase = 2048;

TensorMap map_of(const Case& c, const std::vector<float>& tensor) {
  TensorMap map;
  map.address = reinterpret_cast<std::uint64_t>(tensor.data());
  map.swizzle = c.swizzle;
  map.fill_nan = c.fill_nan;
  map.rank = c.rank;
  map.extents = c.extents;
  map.box = c.box;
  map.element_strides = c.element_strides;
  std::uint64_t stride = 4;
  for (int d = 1; d < c.rank; ++d) {
    stride = (stride * c.extents[d - 1] + 15) / 16 * 16;  // rows are padded to what TMA can address
    map.stride_bytes[d] = stride;
  }
  return map;
}

std::vector<float> numbered(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

// Shared memory after the copy that the library's rows and swizzle describe.
std::vector<float> copied(const TensorMap& map, std::span<const std::int32_t> corner) {
  std::vector<float> shared(4096, -1.0f);
  const float fill = std::bit_cast<float>(static_cast<std::uint32_t>(fill_pattern(map)));
  for_each_box_row(map, corner, [&](const BoxRow& row) {
    for (std::uint32_t at = 0; at < row.bytes; at += 4) {
      float value = fill;
      if (at >= row.first && at < row.last)
        std::memcpy(&value, reinterpret_cast<const char*>(row.address + (at - row.first)), 4);
      shared[swizzled(kBase + row.offset + at, map.swizzle) / 4] = value;
    }
  });
  return shared;
}

// The same by the definition: element (i0, .., i4) of the box is element corner + i * stride of the
// tensor; it lies in unit u of line r of its pattern, at unit u XOR (r of the 8 lines that are 128
// bytes apart).
std::vector<float> defined(const Case& c, const TensorMap& map, const std::vector<float>& tensor) {
  std::vector<float> shared(4096, -1.0f);
  std::array<std::uint32_t, 5> count{1, 1, 1, 1, 1};
  for (int d = 0; d < c.rank; ++d)
    count[d] = d == 0 ? c.box[0] : (c.box[d] + c.element_strides[d] - 1) / c.element_strides[d];
  std::uint32_t linear = 0;
  std::array<std::uint32_t, 5> i{};
  for (i[4] = 0; i[4] < count[4]; ++i[4])
    for (i[3] = 0; i[3] < count[3]; ++i[3])
      for (i[2] = 0; i[2] < count[2]; ++i[2])
        for (i[1] = 0; i[1] < count[1]; ++i[1])
          for (i[0] = 0; i[0] < count[0]; ++i[0], ++linear) {
            bool inside = true;
            std::int64_t index = 0;
            for (int d = 0; d < c.rank; ++d) {
              const std::int64_t at =
                  c.corner[d] + std::int64_t{i[d]} * (d ? c.element_strides[d] : 1);
              inside = inside && at >= 0 && at < static_cast<std::int64_t>(c.extents[d]);
              index += at * (d ? static_cast<std::int64_t>(map.stride_bytes[d] / 4) : 1);
            }
            const std::uint32_t line = linear * 4 / 128, unit = linear * 4 % 128 / 16;
            const std::uint32_t lines[] = {0, line % 2, line % 4, line % 8};
            const std::uint32_t moved = unit ^ lines[static_cast<int>(c.swizzle)];
            const float outside = c.fill_nan ? std::bit_cast<float>(0x7fffffffu) : 0.0f;
            shared[(kBase + line * 128 + moved * 16) / 4 + linear % 4] =
                inside ? tensor[static_cast<std::size_t>(index)] : outside;
          }
  return shared;
}

}  // namespace

TEST_CASE("boxes of one to five dimensions are copied as their coordinates say") {
  const std::vector<float> tensor = numbered(8192);
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.name));
    const TensorMap map = map_of(c, tensor);
    CHECK(problem_of(map) == "");
    const std::vector<float> got = copied(map, c.corner), wanted = defined(c, map, tensor);
    CHECK(std::memcmp(got.data(), wanted.data(), got.size() * 4) == 0);
    std::uint32_t bytes = 0;
    for_each_box_row(map, c.corner, [&](const BoxRow& row) { bytes += row.bytes; });
    CHECK(map.box_bytes() == bytes);
  }
}

TEST_CASE("an encoded tensor map reads back, and a changed one does not") {
  const std::vector<float> tensor = numbered(16);
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.name));
    const TensorMap map = map_of(c, tensor);
    EncodedTensorMap bytes = encode_tensor_map(map);
    const std::optional<TensorMap> back = decode_tensor_map(bytes);
    REQUIRE(back);
    CHECK(back->address == map.address);
    CHECK(back->element == map.element);
    CHECK(back->swizzle == map.swizzle);
    CHECK(back->fill_nan == map.fill_nan);
    REQUIRE(back->rank == map.rank);
    for (int d = 0; d < map.rank; ++d) {
      CHECK(back->extents[d] == map.extents[d]);
      CHECK(back->box[d] == map.box[d]);
      if (d == 0) continue;
      CHECK(back->stride_bytes[d] == map.stride_bytes[d]);
      CHECK(back->element_strides[d] == map.element_strides[d]);
    }
    bytes[40] ^= std::byte{1};
    CHECK_FALSE(decode_tensor_map(bytes));
  }
  CHECK_FALSE(decode_tensor_map(EncodedTensorMap{}));
}

TEST_CASE("a map that cuTensorMapEncodeTiled refuses is named with its rule") {
  const std::vector<float> tensor = numbered(16);
  const Case good{"", 2, {64, 64}, {32, 8}, {1, 1}, {0, 0}, Swizzle::span128, false};
  struct Bad {
    void (*change)(TensorMap&);
    const char* words;
  };
  const Bad bads[] = {
      {[](TensorMap& m) { m.rank = 6; }, "1 to 5 dimensions"},
      {[](TensorMap& m) { m.address += 8; }, "multiple of 16 bytes"},
      {[](TensorMap& m) {
         m.element = TensorElement::s32;
         m.fill_nan = true;
       },
       "floating point"},
      {[](TensorMap& m) { m.extents[1] = 0; }, "extent of dimension 1"},
      {[](TensorMap& m) { m.box[1] = 257; }, "box of dimension 1"},
      {[](TensorMap& m) { m.stride_bytes[1] = 24; }, "stride of dimension 1"},
      {[](TensorMap& m) { m.element_strides[1] = 9; }, "element stride of dimension 1"},
      {[](TensorMap& m) {
         m.box[0] = 3;
         m.swizzle = Swizzle::none;
       },
       "multiple of 16 bytes; it has 12"},
      {[](TensorMap& m) { m.box[0] = 64; }, "fit in the swizzle's span; it has 256"},
      {[](TensorMap& m) { m.box[0] = 16; }, "as long as the swizzle's span"},
  };
  CHECK(problem_of(map_of(good, tensor)) == "");
  for (const Bad& bad : bads) {
    CAPTURE(std::string(bad.words));
    TensorMap map = map_of(good, tensor);
    bad.change(map);
    CHECK(problem_of(map).find(bad.words) != std::string::npos);
  }
}

TEST_CASE("every wgmma descriptor finds its elements where the golden tables have them") {
  std::ifstream file(HALFTONE_GOLDEN "/descriptors.txt");
  REQUIRE(file);
  std::string text;
  int lines = 0;
  while (std::getline(file, text)) {
    std::istringstream line(text);
    std::string name;
    int element_bytes, k_major, mn, k;
    std::uint64_t bits;
    std::uint32_t start, byte;
    line >> name >> element_bytes >> k_major >> std::hex >> bits >> std::dec >> start;
    CAPTURE(name);
    CAPTURE(start);
    const std::uint32_t base = 8192;  // the array lies on a multiple of every pattern
    const MatrixDescriptor descriptor = decode_descriptor(bits | (base + start) >> 4);
    int wrong = 0, elements = 0;
    for (; line >> mn >> k >> byte; ++elements)
      wrong += descriptor_address(descriptor, k_major != 0, element_bytes, mn, k) != base + byte;
    CHECK(elements == 24);
    CHECK(wrong == 0);
    ++lines;
  }
  CHECK(lines == 48);
}

// SPDX-License-Identifier: Apache-2.0
// Arrays to and from .npy files: every type, either order, and what no f32 or i32 is.
#include "halftone/npy.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "../files/scratch_folder.hpp"
#include "message_of.hpp"

using halftone::load_npy, halftone::NpyArray, halftone::save_npy;
using halftone::tests::bytes_of_file, halftone::tests::ScratchFolder, halftone::tests::write_file;
using Shape = std::vector<std::int64_t>;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// As NumPy writes a dictionary, without its spaces.
template <class Element>
std::string file_of(const std::string& type, const std::string& shape,
                    const std::vector<Element>& elements, const char* fortran = "False") {
  const std::string dictionary =
      "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY\1";
  file += '\0';
  file += {static_cast<char>(dictionary.size()), '\0'};
  file += dictionary;
  return file.append(reinterpret_cast<const char*>(elements.data()),
                     elements.size() * sizeof(Element));
}

class Files {
 public:
  NpyArray load(const std::string& bytes) {
    write_file(path, bytes);
    return load_npy(path);
  }
  std::string refusal(const std::string& bytes) {
    return message_of([&] { (void)load(bytes); });
  }

  ScratchFolder scratch;
  std::string path = scratch / "a.npy";
};

template <class Value>
std::vector<Value> copy(std::span<const Value> values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("arrays that are saved load with every bit") {
  const ScratchFolder scratch;
  const std::string file = scratch / "a.npy";
  const std::vector<float> floats = {0.0f, -0.0f, 1.5f, kInfinity, -0x1p-149f, std::nanf("")};
  for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{1, 6, 1}}) {
    save_npy(file, floats, shape);
    const NpyArray back = load_npy(file);
    CHECK(back.shape == shape);
    REQUIRE(back.floats().size() == floats.size());
    CHECK(std::memcmp(back.floats().data(), floats.data(), floats.size() * sizeof(float)) == 0);
  }
  const std::vector<std::int32_t> integers = {-5, std::numeric_limits<std::int32_t>::min()};
  save_npy(file, integers, Shape{2});
  CHECK(copy(load_npy(file).integers()) == integers);
  save_npy(file, std::array{7.0f}, Shape{});
  CHECK(load_npy(file).shape.empty());
  CHECK(copy(load_npy(file).floats()) == std::vector<float>{7.0f});
  save_npy(file, std::vector<float>{}, Shape{3, 0});
  CHECK(load_npy(file).shape == Shape{3, 0});
  CHECK(load_npy(file).floats().empty());
}

TEST_CASE("narrow and wide elements that f32 and i32 hold") {
  Files files;
  // IEEE 754: 1.5, -2, the largest, the least subnormal, infinity.
  const std::vector<std::uint16_t> halves = {0x3e00, 0xc000, 0x7bff, 0x0001, 0x7c00};
  CHECK(copy(files.load(file_of("<f2", "(5,)", halves)).floats()) ==
        std::vector<float>{1.5f, -2.0f, 65504.0f, 0x1p-24f, kInfinity});
  const std::vector<double> doubles = {0.5, -0x1p-149, double{kInfinity}, 3.0};
  CHECK(copy(files.load(file_of("<f8", "(4,)", doubles)).floats()) ==
        std::vector<float>{0.5f, -0x1p-149f, kInfinity, 3.0f});
  CHECK(std::isnan(files.load(file_of("<f8", "(1,)", std::vector{std::nan("")})).floats()[0]));
  using Integers = std::vector<std::int32_t>;
  const auto integers = [&]<class Element>(const char* type, std::vector<Element> values) {
    return copy(files.load(file_of(type, "(2,)", values)).integers());
  };
  CHECK(integers("|b1", std::vector<std::uint8_t>{0, 1}) == Integers{0, 1});
  CHECK(integers("|i1", std::vector<std::int8_t>{-128, 127}) == Integers{-128, 127});
  CHECK(integers("|u1", std::vector<std::uint8_t>{0, 255}) == Integers{0, 255});
  CHECK(integers("<i2", std::vector<std::int16_t>{-32768, 3}) == Integers{-32768, 3});
  CHECK(integers("<u2", std::vector<std::uint16_t>{0, 65535}) == Integers{0, 65535});
  CHECK(integers("<u4", std::vector<std::uint32_t>{0, 2147483647u}) == Integers{0, 2147483647});
  CHECK(integers("<i8", std::vector<std::int64_t>{-2147483648, 9}) ==
        Integers{std::numeric_limits<std::int32_t>::min(), 9});
  CHECK(integers("<u8", std::vector<std::uint64_t>{0, 9}) == Integers{0, 9});
}

TEST_CASE("arrays in Fortran's order come out row-major") {
  Files files;
  // a[i][j][k] = 100 i + 10 j + k, shape (2, 3, 4): i runs fastest in the file.
  std::vector<std::int32_t> given, expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) given.push_back(100 * i + 10 * j + k);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
  const NpyArray array = files.load(file_of("<i4", "(2, 3, 4)", given, "True"));
  CHECK(array.shape == Shape{2, 3, 4});
  CHECK(copy(array.integers()) == expected);
  CHECK(files.load(file_of("<i4", "(0, 3)", std::vector<std::int32_t>{}, "True")).shape ==
        Shape{0, 3});
  CHECK(copy(files.load(file_of("<i4", "()", std::vector{8}, "True")).integers()) ==
        std::vector{8});
}

TEST_CASE("what is no f32, no i32 or no array is refused in one sentence") {
  Files files;
  const std::string file = "load_npy: file '" + files.path + "' ";
  CHECK(files.refusal(file_of("<f8", "(2,)", std::vector{0.5, 0.1})) ==
        file + "has 0.1 at element 1, which no f32 is; save the array as float32");
  CHECK(files.refusal(file_of("<f8", "(1,)", std::vector{1e300})) ==
        file + "has 1e+300 at element 0, which no f32 is; save the array as float32");
  CHECK(files.refusal(file_of("<i8", "(1,)", std::vector<std::int64_t>{2147483648})) ==
        file +
            "has 2147483648 at element 0, which no i32 is; save the array as int32 where it fits");
  CHECK(files.refusal(file_of("<u4", "(1,)", std::vector<std::uint32_t>{4294967295u})) ==
        file +
            "has 4294967295 at element 0, which no i32 is; save the array as int32 where it fits");
  CHECK(files.refusal("no array") ==
        file +
            "does not begin as a .npy file does; give an array of numbers that numpy.save wrote");
  CHECK(message_of([&] { (void)load_npy(files.scratch / "none"); }) ==
        "load_npy: file '" + files.scratch / "none" +
            "' cannot be opened: No such file or directory; check the path, and make its folder "
            "first");
  const NpyArray floats = files.load(file_of("<f4", "(1,)", std::vector{1.0f}));
  CHECK(message_of([&] { (void)floats.integers(); }) ==
        "integers: the array holds floats; ask for floats()");
  const NpyArray integers = files.load(file_of("<i4", "(1,)", std::vector{1}));
  CHECK(message_of([&] { (void)integers.floats(); }) ==
        "floats: the array holds integers; ask for integers()");
}

TEST_CASE("a shape that is not that of the values is refused, and the file stays") {
  const ScratchFolder scratch;
  const std::string file = scratch / "a.npy";
  const std::vector<float> values(6);
  save_npy(file, values, Shape{6});
  const std::string before = bytes_of_file(file);
  const std::pair<Shape, const char*> cases[] = {
      {{2, 4}, "(2, 4)"},
      {{}, "()"},
      {{-2, -3}, "(-2, -3)"},
      {{6, 0}, "(6, 0)"},
      {{std::numeric_limits<std::int64_t>::max(), 1 << 30, 1 << 30, 1 << 30},
       "(9223372036854775807, 1073741824, 1073741824, 1073741824)"}};
  for (const auto& [shape, text] : cases) {
    CHECK(message_of([&] { save_npy(file, values, shape); }) ==
          "save_npy: file '" + file + "' was given 6 values for the shape " + text +
              "; give at most 64 extents whose product is the number of values");
  }
  CHECK(bytes_of_file(file) == before);
}

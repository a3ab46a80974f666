// SPDX-License-Identifier: Apache-2.0
#include "data/gather.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "formats.hpp"
#include "message_of.hpp"

using namespace halftone;
using namespace halftone::data;

namespace {

/// A column of `values`, `count` to a row, that begins at an odd address.
template <class Element>
struct Source {
  Source(std::vector<Element> values, std::int64_t count, Stored stored, Conversion convert = {})
      : bytes(values.size() * sizeof(Element) + 1),
        column(make_column("x", "file 'f'", {count}, stored, convert)) {
    std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(Element));
    column.begin = bytes.data() + 1;
    rows = static_cast<std::int64_t>(values.size()) / count;
  }

  template <class To>
  [[nodiscard]] std::vector<To> gathered(std::vector<std::int64_t> of) const {
    std::vector<To> to(of.size() * static_cast<std::size_t>(column.count));
    gather(column, of, std::span(to));
    return to;
  }
  template <class To>
  [[nodiscard]] std::vector<To> all() const {
    std::vector<std::int64_t> of(static_cast<std::size_t>(rows));
    std::iota(of.begin(), of.end(), 0);
    return gathered<To>(of);
  }

  std::vector<std::byte> bytes;
  Column column;
  std::int64_t rows;
};

template <class Element>
std::vector<float> as_floats(std::vector<Element> values, Stored stored, Conversion convert) {
  return Source<Element>(values, 1, stored, convert).template all<float>();
}

constexpr Conversion kToF32{.to = InputElement::f32};

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

TEST_CASE("every code of f16 and bf16 becomes the f32 that the runtime's formats have") {
  std::vector<std::uint16_t> codes(65536);
  std::iota(codes.begin(), codes.end(), std::uint16_t{0});
  const auto* const bytes = reinterpret_cast<const std::byte*>(codes.data());
  for (const auto& [stored, element] : {std::pair(Stored::f16, encoding::Element::f16),
                                        std::pair(Stored::bf16, encoding::Element::bf16)}) {
    const std::vector<float> values = as_floats(codes, stored, {});
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const float expected = element_of(bytes, element, static_cast<std::int64_t>(i));
      CAPTURE(i);
      REQUIRE(same_bits(values[i], expected));
    }
  }
}

TEST_CASE("rows come in the order that is asked for, runs of rows and single ones") {
  const Source<float> source({0, 1, 10, 11, 20, 21, 30, 31}, 2, Stored::f32);
  CHECK(source.gathered<float>({1, 2, 3, 0, 0, 2}) ==
        std::vector<float>{10, 11, 20, 21, 30, 31, 0, 1, 0, 1, 20, 21});
}

TEST_CASE("rows may overlap") {
  Source<std::uint16_t> source({1, 2, 3, 4, 5, 65535}, 3, Stored::u16);
  source.column.row_bytes = 2;
  CHECK(source.gathered<std::int32_t>({0, 1, 3}) ==
        std::vector<std::int32_t>{1, 2, 3, 2, 3, 4, 4, 5, 65535});
}

TEST_CASE("whole numbers are i32 by themselves, and f32 where that or a scale is declared") {
  CHECK(Source<std::uint8_t>({0, 255}, 1, Stored::u8).all<std::int32_t>() ==
        std::vector<std::int32_t>{0, 255});
  CHECK(Source<std::int8_t>({-128, 127}, 1, Stored::i8).all<std::int32_t>() ==
        std::vector<std::int32_t>{-128, 127});
  CHECK(Source<std::int16_t>({-32768}, 1, Stored::i16).all<std::int32_t>()[0] == -32768);
  CHECK(as_floats<std::uint8_t>({0, 255}, Stored::u8, kToF32) == std::vector<float>{0, 255});
  CHECK(as_floats<std::uint8_t>({0, 51, 255}, Stored::u8, {.scale = 1 / 255.0f, .offset = -0.5f}) ==
        std::vector<float>{-0.5f, 51 * (1 / 255.0f) - 0.5f, 255 * (1 / 255.0f) - 0.5f});
  // 2^24 + 1 lies between two f32, and the even one is below.
  CHECK(as_floats<std::int32_t>({16777217, -16777217}, Stored::i32, kToF32) ==
        std::vector<float>{16777216.0f, -16777216.0f});
}

TEST_CASE("the product is rounded before the offset is added") {
  const float third = 1.0f / 3.0f;
  const std::vector<float> values =
      as_floats<float>({3.0f}, Stored::f32, {.scale = third, .offset = -1.0f});
  // 3 * 0x1.555556p-2 is 1 + 2^-25 and rounds to 1; a fused one would give 2^-25.
  CHECK(values[0] == 0.0f);
}

TEST_CASE("a value that stays as it is keeps its sign and its NaN") {
  const std::vector<float> values = as_floats<float>({-0.0f, NAN}, Stored::f32, {});
  CHECK(same_bits(values[0], -0.0f));
  CHECK(std::isnan(values[1]));
}

TEST_CASE("i64 and u32 that i32 cannot hold are refused with row and value") {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  CHECK(Source<std::int64_t>({most, -most - 1}, 1, Stored::i64).all<std::int32_t>() ==
        std::vector<std::int32_t>{2147483647, -2147483648});
  const Source<std::int64_t> past({1, 2, 3, most + 1, 5, 6}, 2, Stored::i64);
  CHECK(past.gathered<std::int32_t>({2, 0}) == std::vector<std::int32_t>{5, 6, 1, 2});
  CHECK(message_of([&] { (void)past.all<std::int32_t>(); }) ==
        "loader: input 'x' has 2147483648 in row 1 of file 'f', which i32 cannot hold; store "
        "values that it holds");
  CHECK(message_of([&] { (void)past.gathered<std::int32_t>({2, 1}); }).find("in row 1 of") !=
        std::string::npos);
  const Source<std::uint32_t> large({4000000000u}, 1, Stored::u32);
  CHECK(message_of([&] { (void)large.all<std::int32_t>(); }).find("has 4000000000 in row 0") !=
        std::string::npos);
}

TEST_CASE("f64 is rounded to f32, and refused where that would be infinite") {
  CHECK(as_floats<double>({0.1, -1e-50, INFINITY}, Stored::f64, {}) ==
        std::vector<float>{0.1f, -0.0f, INFINITY});
  const Source<double> past({1.0, 1e39}, 1, Stored::f64);
  CHECK(message_of([&] { (void)past.all<float>(); }) ==
        "loader: input 'x' has 1e+39 in row 1 of file 'f', which f32 cannot hold; store values "
        "that it holds");
}

template <class Element>
void check_as_is(Stored stored, InputElement to, std::vector<Element> values) {
  const Source<Element> source(values, 2, stored, {.to = to});
  CHECK((source.template all<Element>() == values));
  CHECK((source.template gathered<Element>({1, 0}) ==
         std::vector<Element>{values[2], values[3], values[0], values[1]}));
}

TEST_CASE("what a model takes as it is stored is handed over so") {
  using halftone::Bf16, halftone::F16;
  check_as_is<std::uint8_t>(Stored::u8, InputElement::u8, {0, 255, 3, 128});
  check_as_is<std::int8_t>(Stored::i8, InputElement::i8, {-128, 127, -1, 0});
  check_as_is<std::uint16_t>(Stored::u16, InputElement::u16, {0, 65535, 3, 32768});
  check_as_is<std::int16_t>(Stored::i16, InputElement::i16, {-32768, 32767, -1, 0});
  check_as_is<std::int64_t>(Stored::i64, InputElement::i64, {1ll << 40, -1, 0, 7});
  check_as_is<F16>(Stored::f16, InputElement::f16, {{0x3c00}, {0x7e01}, {0}, {0x8000}});
  check_as_is<Bf16>(Stored::bf16, InputElement::bf16, {{0x3f80}, {0x7fc1}, {0}, {0x8000}});
  CHECK(
      message_of([] { (void)make_column("x", "s", {}, Stored::u16, {.to = InputElement::u8}); }) ==
      "dataset: input 'x' is to be u8, but its source has u16; let it be f32 or i32, or store u8");
  CHECK(message_of([] {
          (void)make_column("x", "s", {}, Stored::u8, {.to = InputElement::u8, .offset = 1.0f});
        }) ==
        "dataset: input 'x' is u8 and has a scale or an offset; let it be f32, or declare them in "
        "the model");
}

TEST_CASE("floats are no i32, and i32 takes no scale") {
  CHECK(
      message_of([] { (void)make_column("x", "s", {}, Stored::f16, {.to = InputElement::i32}); }) ==
      "dataset: input 'x' is to be i32, but its source has f16; let it be f32, or store whole "
      "numbers");
  CHECK(message_of([] {
          (void)make_column("x", "s", {}, Stored::u8, {.to = InputElement::i32, .scale = 2.0f});
        }) == "dataset: input 'x' is i32 and has a scale or an offset; let it be f32");
}

// SPDX-License-Identifier: Apache-2.0
// The table of elements against std::numeric_limits and the numbers of docs/spec/precision.md;
// sizes against counted bits; the text form there and back. tests/codegen compares the table with
// LLVM's.
#include "halftone/encoding/encoding.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"

using namespace halftone::encoding;

namespace {

constexpr Element kAll[] = {Element::f32, Element::tf32, Element::f16, Element::bf16, Element::i32,
                            Element::u8,  Element::i8,   Element::u16, Element::i16,  Element::i64};
static_assert(std::size(kAll) == kElements);

std::string said_of(std::string_view text) {
  const auto parsed = parse(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return *wrong;
  return "reads as " + spelled(std::get<Encoding>(parsed));
}

/// Every combination of members that the text form tells apart.
std::vector<Encoding> encodings() {
  std::vector<Scaling> scalings = {{}};
  for (const Element scale : kAll) {
    scalings.push_back({.kind = Scaling::Kind::tensor, .scale = scale});
    for (const int size : {1, 16, 32, 128}) {
      for (const int axis : {-1, -2, -7}) {
        scalings.push_back(
            {.kind = Scaling::Kind::block, .size = size, .axis = axis, .scale = scale});
      }
    }
  }
  std::vector<Encoding> all;
  for (const Element element : kAll) {
    for (const Scaling& scaling : scalings) {
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero}) {
        for (const bool saturate : {false, true}) {
          Encoding encoding(element, rounding);
          encoding.scaling = scaling;
          encoding.saturate = saturate;
          all.push_back(encoding);
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("f32 is the machine's float, i32 its 32-bit integer") {
  using Limits = std::numeric_limits<float>;
  const ElementTraits& f32 = traits(Element::f32);
  CHECK(f32.bits == 8 * sizeof(float));
  CHECK(f32.mantissa_bits == Limits::digits - 1);
  CHECK(f32.bias == Limits::max_exponent - 1);
  CHECK(least_normal(f32) == Limits::min_exponent - 1);
  CHECK(std::ldexp(1.0f, least_subnormal(f32)) == Limits::denorm_min());
  CHECK(f32.has_infinity == Limits::has_infinity);
  CHECK(traits(Element::i32).bits == std::numeric_limits<std::int32_t>::digits + 1);
  CHECK(traits(Element::i32).integer);
}

template <class Number>
void check_integer(Element element) {
  CAPTURE(word(element));
  using Limits = std::numeric_limits<Number>;
  const ElementTraits& t = traits(element);
  CHECK(t.integer);
  CHECK(t.stored);
  CHECK(t.has_sign == Limits::is_signed);
  CHECK(t.bits == Limits::digits + (Limits::is_signed ? 1 : 0));
  CHECK(!is_narrow(element));
  bool is_exact = true;  // an f32 that comes back, of the numbers beside the ends
  for (const int less : {0, 1, 2})
    is_exact &= static_cast<double>(static_cast<float>(Limits::max() - less)) ==
                    static_cast<double>(Limits::max() - less) &&
                Limits::digits < 50;
  CHECK(is_exact_in_f32(element) == is_exact);
}

TEST_CASE("integers are the machine's, and f32 has all of those of 16 bits and less") {
  check_integer<std::int32_t>(Element::i32);
  check_integer<std::uint8_t>(Element::u8);
  check_integer<std::int8_t>(Element::i8);
  check_integer<std::uint16_t>(Element::u16);
  check_integer<std::int16_t>(Element::i16);
  check_integer<std::int64_t>(Element::i64);
  for (const Element element : {Element::f32, Element::tf32, Element::f16, Element::bf16})
    CHECK(!is_exact_in_f32(element));
}

TEST_CASE("a code has the bits that its element takes, and only tf32 leaves some open") {
  for (const Element element : kAll) {
    CAPTURE(word(element));
    const ElementTraits& t = traits(element);
    if (t.integer) continue;
    const int code = 1 + t.exponent_bits + t.mantissa_bits;
    CHECK(t.bits - code == (element == Element::tf32 ? 13 : 0));  // F1
    CHECK(t.bias == (1 << (t.exponent_bits - 1)) - 1);
    CHECK(t.nan == (1ull << (t.bits - 1)) - 1);  // F3
    CHECK(t.stored == (element != Element::tf32));
    CHECK(is_narrow(element) == (element != Element::f32));
  }
}

TEST_CASE("a row takes its bits, filled up to bytes") {
  for (const Element element : kAll) {
    CAPTURE(word(element));
    constexpr int kBytes[] = {4, 4, 2, 2, 4, 1, 1, 2, 2, 8};  // F1
    const int bytes = kBytes[static_cast<int>(element)];
    for (const std::int64_t count : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 1000003}) {
      CHECK(storage_bytes(element, count) == count * bytes);
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 59;
    CHECK(storage_bytes(element, kMost) == kMost * bytes);
  }
}

TEST_CASE("bits are counted, whether or not bytes hold a whole number of elements") {
  for (const int bits : {1, 4, 6, 8, 19, 32}) {
    CAPTURE(bits);
    for (std::int64_t count = 0, taken = 0; count < 100; ++count, taken += bits) {
      std::int64_t bytes = 0;
      while (8 * bytes < taken) ++bytes;
      CHECK(bytes_of_bits(bits, count) == bytes);
    }
  }
}

TEST_CASE(
    "a float contains another where it has its digits, its smallest and its largest numbers") {
  const auto made_up = [](int exponent, int mantissa, int bias, bool infinity) {
    return ElementTraits{"", 16, exponent, mantissa, bias, infinity, 0, true, false, true};
  };
  const ElementTraits &f16 = traits(Element::f16), &bf16 = traits(Element::bf16);
  const ElementTraits e5m2 = made_up(5, 2, 15, true), e4m3 = made_up(4, 3, 7, false);
  CHECK(contains(f16, e5m2));
  CHECK(contains(f16, e4m3));
  CHECK(contains(bf16, e4m3));
  CHECK(contains(made_up(6, 10, 31, true), f16));
  CHECK(!contains(e5m2, e4m3));                      // digits
  CHECK(!contains(f16, made_up(5, 2, 15, false)));   // 2^16
  CHECK(!contains(f16, made_up(5, 10, 16, true)));   // 2^-25
  CHECK(!contains(made_up(5, 10, 15, false), f16));  // infinity
}

TEST_CASE("a conversion is exact to f32 and from f16 and bf16 to tf32, else it rounds") {
  for (const Element from : kAll) {
    for (const Element to : kAll) {
      CAPTURE(word(from));
      CAPTURE(word(to));
      const bool is_float = !traits(from).integer && !traits(to).integer;
      const bool is_short = from == Element::f16 || from == Element::bf16;
      const bool exact =
          from == to || (is_float && to == Element::f32) || (is_short && to == Element::tf32);
      CHECK(holds(to, from) == exact);
    }
  }
}

TEST_CASE("the text form reads back as the same encoding, and no two share one") {
  std::vector<std::string> texts;
  for (const Encoding& encoding : encodings()) {
    const std::string text = spelled(encoding);
    CAPTURE(text);
    const auto parsed = parse(text);
    REQUIRE(std::holds_alternative<Encoding>(parsed));
    CHECK(std::get<Encoding>(parsed) == encoding);
    texts.push_back(text);
  }
  std::sort(texts.begin(), texts.end());
  CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
}

TEST_CASE("the text form is short where an encoding is plain") {
  Encoding blocks(Element::bf16, Rounding::toward_zero);
  blocks.scaling = {.kind = Scaling::Kind::block, .size = 32, .axis = -2, .scale = Element::f32};
  blocks.saturate = true;
  CHECK(spelled(Element::bf16) == "bf16");
  CHECK(spelled({Element::f16, Rounding::toward_zero}) == "f16 toward_zero");
  CHECK(spelled(blocks) == "bf16 scaled block 32 axis -2 f32 toward_zero saturate");
}

TEST_CASE("what is no encoding is refused in one sentence") {
  const struct {
    const char *text, *said;
  } cases[] = {
      {"",
       "no element is called ''; there are f32, tf32, f16, bf16, i32, u8, i8, u16, i16 and i64"},
      {"e4m3",
       "no element is called 'e4m3'; there are f32, tf32, f16, bf16, i32, u8, i8, u16, i16 and "
       "i64"},
      {"bf16 scaled block 32 e8m0",
       "no element is called 'e8m0'; there are f32, tf32, f16, bf16, i32, u8, i8, u16, i16 and "
       "i64"},
      {"bf16 scaled row f32", "'row' is no scaling; write scaled tensor or scaled block"},
      {"bf16 scaled", "'' is no scaling; write scaled tensor or scaled block"},
      {"bf16 scaled tensor",
       "no element is called ''; there are f32, tf32, f16, bf16, i32, u8, i8, u16, i16 and i64"},
      {"bf16 scaled block f32", "'f32' is no size of a block; write a positive number"},
      {"bf16 scaled block 0 f32", "'0' is no size of a block; write a positive number"},
      {"bf16 scaled block -4 f32", "'-4' is no size of a block; write a positive number"},
      {"bf16 scaled block 99999999999 f32",
       "'99999999999' is no size of a block; write a positive number"},
      {"bf16 scaled block 32 axis 1 f32",
       "'1' is no axis; write -1 for the last dimension, -2 before it"},
      {"bf16 upward",
       "'upward' does not continue an encoding; after the element write scaled, toward_zero or "
       "saturate, in this order"},
      {"bf16 saturate toward_zero",
       "'toward_zero' does not continue an encoding; after the element write scaled, toward_zero "
       "or saturate, in this order"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(said_of(c.text) == c.said);
  }
}

TEST_CASE("nothing computes with scales or saturates, and both are refused") {
  for (const Encoding& encoding : encodings()) {
    CAPTURE(spelled(encoding));
    const bool is_computed = encoding.scaling.kind == Scaling::Kind::none && !encoding.saturate;
    CHECK((fault(encoding) == nullptr) == is_computed);
  }
  Encoding scaled = Element::bf16, saturating = Element::bf16;
  scaled.scaling = {.kind = Scaling::Kind::tensor};
  saturating.saturate = true;
  CHECK(fault(scaled) == std::string("scales its elements, which nothing computes with; state an "
                                     "element alone"));
  CHECK(fault(saturating) == std::string("saturates, but what exceeds an element's range becomes "
                                         "infinite (F2); leave saturate out"));
}

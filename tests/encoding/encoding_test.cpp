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
#include <utility>
#include <variant>
#include <vector>

#include "halftone/encoding/text.hpp"
#include "halftone/encoding/traits.hpp"

using namespace halftone::encoding;

namespace {

constexpr Element kAll[] = {Element::f32,    Element::tf32,   Element::f16,    Element::bf16,
                            Element::i32,    Element::u8,     Element::i8,     Element::u16,
                            Element::i16,    Element::i64,    Element::f8e4m3, Element::f8e5m2,
                            Element::f8e8m0, Element::f6e3m2, Element::f6e2m3, Element::f4e2m1};
static_assert(std::size(kAll) == kElements);

constexpr const char* kNoElement =
    "'; there are f32, tf32, f16, bf16, i32, u8, i8, u16, i16, i64, f8e4m3, f8e5m2, f8e8m0, "
    "f6e3m2, "
    "f6e2m3 and f4e2m1";

std::string said_of(std::string_view text) {
  const auto parsed = parse(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return *wrong;
  return "reads as " + spelled(std::get<Encoding>(parsed));
}

/// Every combination of members that the text form tells apart.
std::vector<Encoding> encodings() {
  std::vector<Scaling> scalings = {{}};
  for (const Element scale : kAll) {
    for (const Scaling::Kind kind :
         {Scaling::Kind::tensor, Scaling::Kind::row, Scaling::Kind::column}) {
      scalings.push_back({.kind = kind, .scale = scale});
    }
    for (const int size : {1, 16, 32, 128}) {
      for (const int rows : {1, 32, 128}) {
        for (const Element of_all : {Element::f8e8m0, Element::f32, Element::bf16}) {
          scalings.push_back({.kind = Scaling::Kind::block,
                              .size = size,
                              .rows = rows,
                              .scale = scale,
                              .of_all = of_all});
        }
      }
    }
  }
  scalings.push_back(
      {.kind = Scaling::Kind::tensor, .scale = Element::f8e4m3, .of_all = Element::f32});
  std::vector<Encoding> all;
  for (const Element element : kAll) {
    for (const Scaling& scaling : scalings) {
      for (const Rounding rounding :
           {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic}) {
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
    const int code = t.has_sign + t.exponent_bits + t.mantissa_bits;
    CHECK(t.has_sign == (element != Element::f8e8m0));
    CHECK(t.bits - code == (element == Element::tf32 ? 13 : 0));  // F1
    CHECK(t.bias == (1 << (t.exponent_bits - 1)) - 1);
    const bool has_nan = t.bits >= 8;
    CHECK(t.nan == (has_nan ? (1ull << (t.bits - t.has_sign)) - 1 : 0));  // F3
    const bool is_computed = t.bits >= 8 && element != Element::f8e8m0;
    CHECK(t.computed == is_computed);
    CHECK(t.stored == (is_computed && element != Element::tf32));
    CHECK(is_narrow(element) == (element != Element::f32));
    CHECK(is_delivered(element) == (t.stored && t.bits > 8));
  }
}

TEST_CASE("the largest numbers of short floats are those of OCP's specifications") {
  const struct {
    Element element;
    double largest, least_normal, least_subnormal;
    std::uint32_t code, beyond;
  } cases[] = {
      {Element::f16, 65504, 0x1p-14, 0x1p-24, 0x7bff, 0x7c00},
      {Element::bf16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x7f7f, 0x7f80},
      {Element::tf32, 0x1.ffcp127, 0x1p-126, 0x1p-136, 0x7f7fe000, 0x7f800000},
      {Element::f8e4m3, 448, 0x1p-6, 0x1p-9, 0x7e, 0x7f},
      {Element::f8e5m2, 57344, 0x1p-14, 0x1p-16, 0x7b, 0x7c},
      {Element::f8e8m0, 0x1p127, 0x1p-127, 0x1p-127, 0xfe, 0xff},
      {Element::f6e3m2, 28, 0.25, 0x1p-4, 0x1f, 0x1f},
      {Element::f6e2m3, 7.5, 1, 0.125, 0x1f, 0x1f},
      {Element::f4e2m1, 6, 1, 0.5, 0x7, 0x7},
  };
  for (const auto& c : cases) {
    CAPTURE(word(c.element));
    const ElementTraits& t = traits(c.element);
    CHECK(std::ldexp(1.0, largest_exponent(t)) == std::exp2(std::floor(std::log2(c.largest))));
    CHECK(std::ldexp(1.0, least_normal(t)) == c.least_normal);
    CHECK(std::ldexp(1.0, least_subnormal(t)) == c.least_subnormal);
    CHECK(code_of_largest(t) == c.code);
    CHECK(code_beyond(t) == c.beyond);
  }
}

TEST_CASE("a row takes its bits, filled up to bytes") {
  for (const Element element : kAll) {
    CAPTURE(word(element));
    constexpr int kBytes[] = {4, 4, 2, 2, 4, 1, 1, 2, 2, 8, 1, 1, 1};  // F1
    if (traits(element).bits < 8) {
      CHECK(storage_bytes(element, 5) == (5 * traits(element).bits + 7) / 8);
      continue;
    }
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
    return ElementTraits{"",     16,   exponent, mantissa, bias, infinity,
                         0x7fff, true, true,     false,    true};
  };
  const ElementTraits &f16 = traits(Element::f16), &bf16 = traits(Element::bf16);
  const ElementTraits &e5m2 = traits(Element::f8e5m2), &e4m3 = traits(Element::f8e4m3);
  CHECK(contains(f16, e5m2));
  CHECK(contains(f16, e4m3));
  CHECK(contains(bf16, e4m3));
  CHECK(contains(made_up(6, 10, 31, true), f16));
  CHECK(!contains(e5m2, e4m3));                      // digits
  CHECK(!contains(f16, made_up(5, 2, 15, false)));   // 2^16
  CHECK(!contains(f16, made_up(5, 10, 16, true)));   // 2^-25
  CHECK(!contains(made_up(5, 10, 15, false), f16));  // infinity
  CHECK(contains(e5m2, traits(Element::f6e3m2)));
  CHECK(contains(e4m3, traits(Element::f6e2m3)));
  CHECK(contains(bf16, traits(Element::f8e8m0)));
  CHECK(!contains(f16, traits(Element::f8e8m0)));   // 2^127
  CHECK(!contains(traits(Element::f6e2m3), e4m3));  // 448
  CHECK(contains(traits(Element::f6e2m3), traits(Element::f4e2m1)));
  CHECK(!contains(traits(Element::f4e2m1), traits(Element::f6e2m3)));
}

TEST_CASE("what saturates keeps what has no infinity, else rounds") {
  Encoding saturating = Element::f8e5m2;
  CHECK(keeps(saturating, Element::f8e5m2));
  saturating.saturate = true;
  CHECK(!keeps(saturating, Element::f8e5m2));
  CHECK(!keeps(saturating, Element::f8e4m3));
  saturating.element = Element::f8e4m3;
  CHECK(keeps(saturating, Element::f8e4m3));
  saturating.element = Element::f16;
  CHECK(keeps(saturating, Element::f8e4m3));
  CHECK(!keeps(saturating, Element::f8e5m2));
}

TEST_CASE("between wider floats a conversion is exact to f32 and from 16 bits to tf32 alone") {
  for (const Element from : kAll) {
    for (const Element to : kAll) {
      CAPTURE(word(from));
      CAPTURE(word(to));
      if (std::max(from, to) > Element::i64) continue;  // tests/codegen asks LLVM
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
  blocks.scaling = {.kind = Scaling::Kind::block, .size = 16, .rows = 32, .scale = Element::f32};
  blocks.saturate = true;
  Encoding delayed = Element::f8e5m2;
  delayed.scaling = {.kind = Scaling::Kind::delayed, .scale = Element::f8e8m0, .history = 16};
  delayed.saturate = true;
  CHECK(spelled(delayed) == "f8e5m2 scaled delayed 16 f8e8m0 saturate");
  delayed.scaling.margin = 2;
  CHECK(spelled(delayed) == "f8e5m2 scaled delayed 16 margin 2 f8e8m0 saturate");
  CHECK(spelled(without_delay(delayed)) == "f8e5m2 scaled tensor f8e8m0 saturate");
  CHECK(spelled(without_delay(blocks)) == spelled(blocks));
  CHECK(spelled(Element::bf16) == "bf16");
  CHECK(spelled({Element::f16, Rounding::toward_zero}) == "f16 toward_zero");
  CHECK(spelled({Element::bf16, Rounding::stochastic}) == "bf16 stochastic");
  CHECK(spelled(blocks) == "bf16 scaled block 32 by 16 f32 toward_zero saturate");
}

TEST_CASE("what is no encoding is refused in one sentence") {
  const struct {
    const char *text, *said;
  } cases[] = {
      {"", "no element is called '"},
      {"e4m3", "no element is called 'e4m3"},
      {"bf16 scaled block 32 e8m0", "no element is called 'e8m0"},
      {"bf16 scaled rows f32",
       "'rows' is no scaling; write scaled tensor, row, column, block or delayed"},
      {"bf16 scaled", "'' is no scaling; write scaled tensor, row, column, block or delayed"},
      {"bf16 scaled row", "no element is called '"},
      {"bf16 scaled delayed f32", "'f32' is no number of steps; write a positive number"},
      {"bf16 scaled delayed 0 f32", "'0' is no number of steps; write a positive number"},
      {"bf16 scaled delayed 8 margin f32", "'f32' is no margin; write a positive number"},
      {"bf16 scaled delayed 8 margin 0 f32", "'0' is no margin; write a positive number"},
      {"bf16 scaled tensor", "no element is called '"},
      {"bf16 scaled block f32", "'f32' is no size of a block; write a positive number"},
      {"bf16 scaled block 0 f32", "'0' is no size of a block; write a positive number"},
      {"bf16 scaled block -4 f32", "'-4' is no size of a block; write a positive number"},
      {"bf16 scaled block 99999999999 f32",
       "'99999999999' is no size of a block; write a positive number"},
      {"f4e2m1 scaled block 16 f8e4m3 under f8e8m0 saturate",
       "a tensor's scale is in f8e8m0 where no under is said; leave under out"},
      {"f4e2m1 scaled block 16 f8e4m3 under saturate", "no element is called 'saturate"},
      {"bf16 scaled block 32 by f32", "'f32' is no size of a block; write a positive number"},
      {"bf16 scaled block 32 by 0 f32", "'0' is no size of a block; write a positive number"},
      {"bf16 upward",
       "'upward' does not continue an encoding; after the element write scaled, toward_zero or "
       "stochastic, or saturate, in this order"},
      {"bf16 toward_zero stochastic",
       "'stochastic' does not continue an encoding; after the element write scaled, toward_zero or "
       "stochastic, or saturate, in this order"},
      {"bf16 saturate toward_zero",
       "'toward_zero' does not continue an encoding; after the element write scaled, toward_zero "
       "or stochastic, or saturate, in this order"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const bool is_about_element = std::string(c.said).starts_with("no element");
    CHECK(said_of(c.text) == c.said + std::string(is_about_element ? kNoElement : ""));
  }
}

TEST_CASE("scales are powers of two, f32 or of two levels, of short floats that saturate") {
  int sound = 0;
  for (const Encoding& encoding : encodings()) {
    if (!is_scaled(encoding)) continue;
    CAPTURE(spelled(encoding));
    const bool is_float8 =
        encoding.element == Element::f8e4m3 || encoding.element == Element::f8e5m2;
    const bool is_shorter = encoding.element == Element::f6e3m2 ||
                            encoding.element == Element::f6e2m3 ||
                            encoding.element == Element::f4e2m1;
    const bool is_half = encoding.element == Element::f16;  // P100
    const bool fits = is_float8 || is_shorter || is_half;
    const Scaling& scaling = encoding.scaling;
    const bool is_block = scaling.kind == Scaling::Kind::block;
    const bool is_one = is_block && scaling.size == 1 && scaling.rows == 1;
    const bool has_two =
        is_block && scaling.scale == Element::f8e4m3 && encoding.element == Element::f4e2m1;
    const bool is_under_f32 =
        is_block && scaling.scale == Element::f8e4m3 && scaling.of_all == Element::f32;
    const bool is_f32 = is_under_f32 || scaling.scale == Element::f32;
    const bool has_known =
        scaling.of_all == Element::f8e8m0 || (is_under_f32 && encoding.element == Element::f4e2m1);
    const bool is_sound = fits && !is_one && has_known && (!is_half || (is_f32 && !is_block)) &&
                          (scaling.scale == Element::f8e8m0 || has_two || is_f32);
    CHECK((fault_of_scaling(encoding) == nullptr) == (is_sound && encoding.saturate));
    CHECK(has_two_levels(scaling) == (is_block && scaling.scale == Element::f8e4m3));
    CHECK((fault(encoding) == nullptr) == (is_sound && encoding.saturate));
    sound += fault(encoding) == nullptr;
    CHECK_FALSE(keeps(encoding, encoding.element));
    CHECK(has_f32_scales(encoding) == is_f32);
    CHECK(factors_sums(encoding) == (is_f32 && (!is_block || is_under_f32)));
    CHECK(element_of_numbers(encoding) == (is_f32 ? Element::f32 : Element::bf16));
  }
  // Elements and their roundings; tensor, row and column under two kinds of scales, and blocks of
  // four sizes and as many rows as there are but one, under either; two levels of two kinds; f16
  // under f32.
  CHECK(sound == 5 * 3 * 2 * (3 + 4 * 3 - 1) + 2 * 3 * (4 * 3 - 1) + 3 * 3);
  Encoding blocks = Element::f8e5m2;
  blocks.saturate = true;
  for (const auto& [size, is_sound] :
       {std::pair{1, false}, {2, true}, {4096, true}, {4097, false}}) {
    blocks.scaling = {.kind = Scaling::Kind::block, .size = size, .scale = Element::f8e8m0};
    CHECK((fault(blocks) == nullptr) == is_sound);
    blocks.scaling.rows = size;
    blocks.scaling.size = 1;
    CHECK((fault(blocks) == nullptr) == is_sound);
    blocks.scaling.rows = -size;
    CHECK(fault(blocks) != nullptr);
  }
}

TEST_CASE("nothing computes with elements of scales and those of fewer than 8 bits") {
  for (const Encoding& encoding : encodings()) {
    if (is_scaled(encoding)) continue;
    CAPTURE(spelled(encoding));
    const ElementTraits& element = traits(encoding.element);
    const bool is_rounded_to = element.computed && encoding.element != Element::f32;
    CHECK((fault(encoding) == nullptr) ==
          ((element.computed || element.integer) &&
           ((!encoding.saturate && encoding.rounding != Rounding::stochastic) || is_rounded_to)));
    CHECK(element_of_numbers(encoding) == encoding.element);
  }
  Encoding scaled = Element::bf16, saturating = Element::f32;
  for (const Element element : {Element::f32, Element::i32}) {
    CHECK(fault({element, Rounding::stochastic}) ==
          std::string("rounds stochastically, but nothing is rounded to its element (F6); leave "
                      "stochastic out"));
  }
  scaled.scaling = {.kind = Scaling::Kind::tensor};
  saturating.saturate = true;
  CHECK(fault(scaled) == std::string("scales an element of more than 8 bits (P51); state f8e4m3, "
                                     "f8e5m2, f6e3m2, f6e2m3 or f4e2m1"));
  scaled = {Element::f16};
  scaled.scaling = {.kind = Scaling::Kind::tensor, .scale = Element::f8e8m0};
  CHECK(fault(scaled) == std::string("scales an element of 16 bits by powers of two, or in blocks "
                                     "(P100); state a scale of f32 for the tensor, for each row or "
                                     "for each column"));
  scaled.scaling.scale = Element::f32;
  CHECK(fault(scaled) == std::string("is scaled and does not saturate (P51); add saturate"));
  CHECK(fault(saturating) == std::string("saturates, but nothing is rounded to its element (F2); "
                                         "leave saturate out"));
  CHECK(fault(Element::f4e2m1) == std::string("is of an element that is converted alone, not "
                                              "computed with; state f8e4m3 or f8e5m2"));
}

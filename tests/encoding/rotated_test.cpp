// SPDX-License-Identifier: Apache-2.0
// Rotated blocks (P105): which encodings have them, and how they are spelled.
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "halftone/encoding/text.hpp"

namespace halftone::encoding {
namespace {

Encoding rotated(Scaling scaling, Element element = Element::f4e2m1) {
  Encoding encoding = element;
  encoding.scaling = scaling;
  encoding.scaling.rotated = true;
  encoding.saturate = true;
  return encoding;
}

}  // namespace

TEST_CASE("P105: blocks of 16 in a row or in a column may be rotated, and no other group") {
  constexpr auto kBlock = Scaling::Kind::block;
  for (const int rows : {1, 2, 8, 15, 16, 17, 32})
    for (const int columns : {1, 2, 8, 15, 16, 17, 32}) {
      CAPTURE(rows);
      CAPTURE(columns);
      if (rows * columns == 1) continue;
      const Scaling scaling{
          .kind = kBlock, .size = columns, .rows = rows, .scale = Element::f8e8m0};
      const bool is_sound = (rows == 16 && columns == 1) || (rows == 1 && columns == 16);
      CHECK((fault(rotated(scaling)) == nullptr) == is_sound);
      CHECK((fault(rotated(scaling, Element::f8e5m2)) == nullptr) == is_sound);
    }
  for (const Element of_all : {Element::f8e8m0, Element::f32})
    CHECK(
        fault(rotated({.kind = kBlock, .size = 16, .scale = Element::f8e4m3, .of_all = of_all})) ==
        nullptr);
  for (const auto kind : {Scaling::Kind::tensor, Scaling::Kind::row, Scaling::Kind::column})
    for (const int size : {0, 16})  // of which such groups know nothing
      for (const Element scale : {Element::f8e8m0, Element::f32})
        CHECK(
            fault(rotated({.kind = kind, .size = size, .scale = scale})) ==
            std::string("rotates others than blocks of 16 in a row or a column (P105); state block "
                        "16 or block 16 by 1, or leave rotated out"));
  CHECK(fault(rotated({.kind = Scaling::Kind::delayed, .scale = Element::f32, .history = 1})) !=
        nullptr);
  CHECK_FALSE(
      is_of_states(rotated({.kind = kBlock, .size = 32, .scale = Element::f32}, Element::f8e4m3)));
}

TEST_CASE("P105: `rotated` stands behind scales") {
  const Encoding encoding = rotated({.kind = Scaling::Kind::block,
                                     .size = 1,
                                     .rows = 16,
                                     .scale = Element::f8e4m3,
                                     .of_all = Element::f32});
  Encoding drawn = rotated({.kind = Scaling::Kind::block, .size = 16, .scale = Element::f8e8m0});
  drawn.rounding = Rounding::stochastic;
  for (const auto& [is, text] :
       {std::pair{encoding, "f4e2m1 scaled block 16 by 1 f8e4m3 under f32 rotated saturate"},
        {drawn, "f4e2m1 scaled block 16 f8e8m0 rotated stochastic saturate"}}) {
    CHECK(spelled(is) == text);
    const auto read = parse(text);
    REQUIRE(std::holds_alternative<Encoding>(read));
    CHECK(std::get<Encoding>(read) == is);
    Encoding plain = is;
    plain.scaling.rotated = false;
    CHECK_FALSE(std::get<Encoding>(read) == plain);
    CHECK(factors_sums(plain) == factors_sums(is));
    CHECK(element_of_numbers(plain) == element_of_numbers(is));
  }
  CHECK(std::holds_alternative<std::string>(parse("f4e2m1 rotated saturate")));
  CHECK(
      std::holds_alternative<std::string>(parse("f4e2m1 scaled block 16 rotated f8e8m0 saturate")));
}

}  // namespace halftone::encoding

// SPDX-License-Identifier: Apache-2.0
#include "halftone/cast_check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "halftone/error.hpp"

using namespace halftone;
using encoding::Element;

TEST_CASE("a tensor's check before it is rounded to f16 counts by IEEE's numbers") {
  // binary16: 65504 is the largest, 65520 the first that rounds to infinity; 2^-14 is the least
  // normal number, 2^-24 the least subnormal, half of which rounds to 0.
  const std::vector<float> values = {0.0f,     -0.0f,       1.0f,      65504.0f, 65519.0f,
                                     65520.0f, -1e9f,       0x1p-14f,  0x1p-15f, 0x1p-24f,
                                     0x1p-25f, -0x1.8p-25f, 0x1.2p-24f};
  const CastCheck check = check_cast(values, Element::f16);
  CHECK(check.values == 13);
  CHECK(check.not_finite == 0);
  CHECK(check.overflows == 2);
  CHECK(check.first_fault == 5);
  CHECK(check.underflows == 1);
  CHECK(check.subnormals == 4);
  CHECK(check.largest == 1e9f);
  CHECK(check.smallest == 0x1p-25f);
  CHECK(check.worst_error == doctest::Approx((65519.0 - 65504) / 65519));
  CHECK_FALSE(check.is_safe());
}

TEST_CASE("f8e4m3 has no infinity, and what exceeds it counts as an overflow") {
  const std::vector<float> values = {448.0f, 464.0f, 465.0f, -1e9f, 0x1p-6f, 0x1p-9f, 0x1p-10f};
  const CastCheck check = check_cast(values, Element::f8e4m3);
  CHECK(check.overflows == 2);
  CHECK(check.first_fault == 2);
  CHECK(check.subnormals == 1);
  CHECK(check.underflows == 1);
  CHECK_FALSE(check.is_safe());
}

TEST_CASE("bf16 has f32's range and eight digits") {
  const std::vector<float> values = {1.0f, 3e38f, 1e-38f, 1.00390625f};  // 1 + 2^-8: halfway
  const CastCheck check = check_cast(values, Element::bf16);
  CHECK(check.is_safe());
  CHECK(check.underflows == 0);
  CHECK(check.subnormals == 1);
  CHECK(check.worst_error <= 0x1p-8);
  CHECK(check_cast(std::vector<float>{3.4e38f}, Element::bf16).overflows == 1);
}

TEST_CASE("values that are not finite are told as they are") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1.0f, -inf, std::nanf(""), 1e6f};
  const CastCheck check = check_cast(values, Element::f16);
  CHECK(check.not_finite == 2);
  CHECK(check.overflows == 1);
  CHECK(check.first_fault == 1);
  CHECK(check.largest == 1e6f);
  CHECK(check_cast({}, Element::f16).is_safe());
}

TEST_CASE("formats that no tensor is stored in are refused") {
  CHECK_THROWS_AS((void)check_cast({}, Element::i32), Error);
  CHECK_THROWS_AS((void)check_cast({}, Element::tf32), Error);
}

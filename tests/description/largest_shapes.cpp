// SPDX-License-Identifier: Apache-2.0
// D4: what shapes may hold at most, and that rules which multiply and add extents overflow nowhere.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

#include "halftone/description/extents.hpp"
#include "inferred_shape.hpp"

using namespace halftone::tests;

namespace {

constexpr std::int64_t kMost = 1099511627776;  // 2^40, as D4 says
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

LayerAttributes heads(std::int64_t count, std::int64_t of_keys) {
  LayerAttributes attributes = standard_attributes(kind_called("attention"));
  attributes.settings = {{"heads", count}, {"key_heads", of_keys}};
  return attributes;
}

}  // namespace

TEST_CASE("extents are added and multiplied in 128 bits up to one more than shapes may hold") {
  const std::int64_t some[] = {0,
                               1,
                               2,
                               3,
                               65536,
                               kMost - 1,
                               kMost,
                               kMost + 1,
                               kMost + 2,
                               kLargest,
                               kLargest / 2,
                               1 << 20,
                               (1 << 20) + 1};
  const auto limited = [](__int128 exact) {
    const __int128 beyond = kMost + 1;
    return static_cast<std::int64_t>(exact > beyond ? beyond : exact < -beyond ? -beyond : exact);
  };
  for (const std::int64_t left : some)
    for (const std::int64_t right : some)
      for (const std::int64_t a : {left, -left - 1})
        for (const std::int64_t b : {right, -right - 1}) {
          CAPTURE(a);
          CAPTURE(b);
          CHECK(product_of_extents(a, b) == limited(static_cast<__int128>(a) * b));
          // What is beyond has lost how far, so that a sum of such a one is only sure to be beyond.
          if (a == limited(a) && b == limited(b))
            CHECK(sum_of_extents(a, b) == limited(static_cast<__int128>(a) + b));
        }
  CHECK(sum_of_extents(kLargest, kLargest) == kMost + 1);
  CHECK(sum_of_extents(-kLargest, -kLargest) == -kMost - 1);
}

TEST_CASE("no shape rule gives more than 2^40 elements, and none overflows on its way there") {
  struct Case {
    Kind kind;
    std::function<Shape(std::int64_t)> x;  // of the extent that is too large by one
    LayerAttributes attributes;
    std::int64_t most;  // the largest that is not
  };
  const auto length = [](std::int64_t n) { return Shape{kBatch, fixed(n), fixed(1)}; };
  const auto channels = [](std::int64_t n) { return Shape{kBatch, fixed(2), fixed(n)}; };
  const Case cases[] = {
      {kind_called("upsample"), length, upsample_settings({8}), kMost / 8},
      {kind_called("pad"), length, pad_settings({5, 7}, "constant"), kMost - 12},
      {kind_called("pixel_shuffle"), length, shuffle_settings({1}), kMost},
      {kind_called("pixel_shuffle"), channels, shuffle_settings({2}, true), kMost / 2},
      {kind_called("pool"), length, pool_settings({{"kernel", {3}}, {"padding", {2, 2}}}),
       kMost - 2},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(form_of(c.kind).word));
    const auto fits = [&](std::int64_t n) {
      return inferred(c.kind, {{"x", c.x(n)}}, c.attributes).has_value();
    };
    CHECK(fits(c.most));
    CHECK(!fits(c.most + 1));
    CHECK(!fits(kLargest / 8));
    CHECK(!fits(kLargest));
  }
  // Numbers of windows and places are exact up to the last one.
  const Lists lists = {{"kernel", {3}}, {"stride", {2}}, {"padding", {2, 2}}};
  const Shape weight = {fixed(1), fixed(3), fixed(1)};
  CHECK(inferred(kind_called("convolution"), {{"x", length(kMost)}, {"weight", weight}},
                 window_settings(lists)) == length(kMost / 2 + 1));
  const Lists cut = {{"kernel", {3}}, {"stride", {2}}, {"padding", {500, 500}}};
  CHECK(inferred(kind_called("transposed_convolution"),
                 {{"x", length(kMost / 2 + 400)}, {"weight", weight}},
                 window_settings(cut)) == length(kMost - 199));
  const auto back = [](std::int64_t n) {
    return inferred(
               kind_called("transposed_convolution"),
               {{"x", {kBatch, fixed(n), fixed(1)}}, {"weight", {fixed(1), fixed(3), fixed(1)}}},
               window_settings({{"kernel", {3}}, {"stride", {65536}}}))
        .has_value();
  };
  CHECK(back(kMost / 65536));
  CHECK(!back(kMost / 65536 + 1));
  CHECK(!back(kLargest));
  CHECK(!inferred(kind_called("attention"),
                  {{"query", {kBatch, kTime, fixed(65536)}},
                   {"key", {kBatch, kTime, fixed(1)}},
                   {"value", {kBatch, kTime, fixed(kLargest)}}},
                  heads(65536, 1)));
  const auto joined = [](std::int64_t n) {
    return inferred(kind_called("concat"), {{"part0", {fixed(kMost / 2)}}, {"part1", {fixed(n)}}});
  };
  CHECK(joined(kMost / 2) == Shape{fixed(kMost)});
  CHECK(!joined(kMost / 2 + 1));
  CHECK(!joined(kLargest));
}

TEST_CASE("factors of symbols count as extents do") {
  const auto of = [](std::int64_t factor) { return Dimension{0, "side", factor}; };
  const auto up = [&](std::int64_t width) {
    return inferred(kind_called("upsample"), {{"x", {of(8192), fixed(width), fixed(4)}}},
                    upsample_settings({8, 1}))
        .has_value();
  };
  CHECK(up(kMost / 65536 / 4));
  CHECK(!up(kMost / 65536 / 4 + 1));
}

// SPDX-License-Identifier: Apache-2.0
// Shapes of what knows times: segments, positions, attention.
#include <doctest/doctest.h>

#include "inferred_shape.hpp"

using namespace halftone::tests;

TEST_CASE("segments are those of a sequence, and numbers those of its times") {
  const Shape rows = {kBatch, kTime}, wide = {kBatch, kTime, fixed(6)};
  const auto sums = [](const Shape& x, const Shape& segment) {
    return inferred(kind_called("segment_reduce"), {{"x", x}, {"segment", segment}},
                    segment_settings(4))
        .has_value();
  };
  CHECK(sums(wide, rows));
  CHECK(!sums(wide, {kBatch}));
  CHECK(!sums(wide, {kBatch, fixed(6)}));
  CHECK(!sums({fixed(6)}, {}));
  CHECK(!sums({kBatch, kTime}, {kBatch}));
  const auto spreads = [](const Shape& x, const Shape& segment) {
    return inferred(kind_called("segment_broadcast"), {{"x", x}, {"segment", segment}}).has_value();
  };
  CHECK(spreads({kBatch, fixed(4), fixed(6)}, rows));
  CHECK(!spreads({kBatch, fixed(4), fixed(6)}, {kTime}));
  CHECK(!spreads({kBatch, fixed(4), fixed(6)}, {kTime, kTime}));
  CHECK(!spreads(wide, rows));
  CHECK(!spreads({kBatch, fixed(4), kTime}, rows));
  CHECK(!spreads({fixed(6)}, {}));
}

TEST_CASE("positions fit the times of what they turn or are added to") {
  const Shape wide = {kBatch, kTime, fixed(6)};
  for (const Kind kind : {kind_called("rotary"), kind_called("sinusoidal_embedding")}) {
    CAPTURE(std::string(form_of(kind).word));
    const auto turned = [&](std::vector<std::pair<std::string, Shape>> operands) {
      return inferred(kind, operands, standard_attributes(kind));
    };
    CHECK(turned({{"x", wide}}));
    CHECK(!turned({{"x", {fixed(6)}}}));
    CHECK(!turned({{"x", {kTime, fixed(5)}}}));
    CHECK(!turned({{"x", {fixed(6), kTime}}}));
    CHECK(!turned({{"x", wide}, {"position", {kTime}}}));
  }
  const auto embedded = [](const Shape& x, const Shape& weight) {
    return inferred(kind_called("position_embedding"), {{"x", x}, {"weight", weight}});
  };
  CHECK(embedded({fixed(9), fixed(6)}, {fixed(9), fixed(6)}));
  CHECK(!embedded({fixed(10), fixed(6)}, {fixed(9), fixed(6)}));
  CHECK(!embedded({fixed(6)}, {fixed(9), fixed(6)}));
  CHECK(!embedded(wide, {fixed(9), fixed(5)}));
  CHECK(!embedded(wide, {kTime, fixed(6)}));
  CHECK(!embedded(wide, {fixed(std::int64_t{1} << 31), fixed(6)}));
  CHECK(!embedded(wide, {fixed(6)}));
}

TEST_CASE("rotary turns an even number of a head's elements, and scales as Llama 3 or not") {
  struct Case {
    std::int64_t heads, rotated;
    std::vector<Setting> more;
    bool fits;
  };
  const Setting low = {"low_factor", 1.0}, high = {"high_factor", 4.0},
                length = {"original_length", 64.0};
  const Case cases[] = {{3, 4, {}, true},
                        {5, 2, {}, false},
                        {3, 3, {}, false},
                        {3, 6, {}, false},
                        {3, 2, {low, high, length}, true},
                        {3, 2, {low, high}, false},
                        {3, 2, {length}, false},
                        {3, 2, {{"low_factor", 4.0}, high, length}, false}};
  for (const Case& c : cases) {
    CAPTURE(c.heads);
    CAPTURE(c.rotated);
    LayerAttributes attributes = standard_attributes(kind_called("rotary"));
    attributes.settings[0].value = c.heads;
    attributes.settings.push_back({"rotated", c.rotated});
    attributes.settings.insert(attributes.settings.end(), c.more.begin(), c.more.end());
    const auto shape =
        inferred(kind_called("rotary"), {{"x", {kTime, fixed(12)}}}, std::move(attributes));
    CHECK(shape.has_value() == c.fits);
  }
}

TEST_CASE("an attention's heads cut its columns, and its masks have the shapes of what they mask") {
  const Kind attention = kind_called("attention");
  const auto with_heads = [&](std::int64_t heads, std::int64_t key_heads) {
    LayerAttributes attributes = standard_attributes(attention);
    attributes.settings[0].value = heads;
    if (key_heads > 0) attributes.settings.push_back({"key_heads", key_heads});
    return attributes;
  };
  const Shape query = {kBatch, kTime, fixed(12)}, key = {kBatch, fixed(7), fixed(6)};
  const Shape value = {kBatch, fixed(7), fixed(10)}, rows = {kBatch, kTime};
  const auto shape = [&](std::int64_t heads, std::int64_t key_heads, const Shape& k, const Shape& v,
                         std::vector<std::pair<std::string, Shape>> masks = {}) {
    std::vector<std::pair<std::string, Shape>> operands = {
        {"query", query}, {"key", k}, {"value", v}};
    operands.insert(operands.end(), masks.begin(), masks.end());
    return inferred(attention, operands, with_heads(heads, key_heads));
  };
  CHECK(shape(4, 2, key, value) == Shape{kBatch, kTime, fixed(20)});
  CHECK(shape(4, 2, key, value, {{"length", {kBatch}}, {"key_mask", {kBatch, fixed(7)}}}));
  CHECK(shape(4, 2, key, value, {{"key_mask", {kBatch, fixed(7)}}}));
  CHECK(shape(3, 0, query, query, {{"segment", rows}}) == query);
  CHECK(!shape(4, 2, key, value, {{"key_mask", {kBatch, fixed(7)}}, {"length", {kBatch}}}));
  CHECK(!shape(4, 2, key, value, {{"length", {}}}));
  CHECK(!shape(4, 2, key, value, {{"key_mask", rows}}));
  CHECK(!shape(4, 2, key, value, {{"segment", rows}}));
  CHECK(!shape(4, 0, key, value));
  CHECK(!shape(3, 2, key, value));
  CHECK(!shape(5, 5, query, query));
  CHECK(!shape(0, 0, key, value));
  CHECK(!shape(4, 2, key, {kBatch, fixed(8), fixed(10)}));
  CHECK(!shape(4, 2, {fixed(7), fixed(6)}, {fixed(7), fixed(10)}));
  CHECK(!shape(4, 2, {kBatch, fixed(7), kTime}, value));
  CHECK(!inferred(attention, {{"query", {fixed(4)}}, {"key", {fixed(4)}}, {"value", {fixed(4)}}},
                  with_heads(1, 0)));
  CHECK(!inferred(attention, {{"query", query}, {"key", query}, {"value", query}}));
}

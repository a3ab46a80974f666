// SPDX-License-Identifier: Apache-2.0
// Shapes of what slides windows over places, stretches, pads and shuffles them (D77 to D99, D113 to
// D116).
#include <doctest/doctest.h>

#include "halftone/description/text.hpp"
#include "inferred_shape.hpp"

using namespace halftone::tests;

TEST_CASE("windows fit what they slide over") {
  const Shape image = {kBatch, fixed(7), fixed(6), fixed(4)};
  const Shape weight = {fixed(8), fixed(3), fixed(3), fixed(4)};
  const Kind convolution = kind_called("convolution");
  const auto gives = [&](const Shape& x, const Shape& w, LayerAttributes attributes) {
    return inferred(convolution, {{"x", x}, {"weight", w}}, std::move(attributes)).has_value();
  };
  const LayerAttributes plain = window_settings({{"kernel", {3, 3}}});
  CHECK(gives(image, weight, plain));
  CHECK(!gives({fixed(7), fixed(4)}, weight, plain));
  CHECK(!gives({kBatch, kTime, fixed(6), fixed(4)}, weight, plain));
  CHECK(!gives({kBatch, fixed(7), fixed(6), kTime}, weight, plain));
  const Dimension wide{0, "wide", 1};  // "same", over a symbol
  const LayerAttributes same = window_settings({{"kernel", {3, 3}}, {"padding", {1, 1, 1, 1}}});
  CHECK(gives({fixed(7), wide, fixed(4)}, weight, same));
  CHECK(!gives({fixed(7), kBatch, fixed(4)}, weight, same));
  CHECK(!gives({kBatch, wide, fixed(4)}, weight, same));
  CHECK(!gives({kBatch, fixed(2), fixed(6), fixed(4)}, weight, plain));
  CHECK(!gives(image, {fixed(8), fixed(3), fixed(2), fixed(4)}, plain));
  CHECK(!gives(image, {fixed(8), fixed(3), fixed(3), fixed(3)}, plain));
  CHECK(!gives(image, weight, window_settings({{"kernel", {}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3, 3, 3}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3}}, {"stride", {1}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3}}, {"dilation", {}}})));
  CHECK(!gives(image, weight, window_settings({{"kernel", {3, 3}}, {"padding", {1, 1}}})));
  CHECK(!gives(image, {fixed(8), fixed(3), fixed(3), fixed(1)},
               window_settings({{"kernel", {3, 3}}}, 3)));
  CHECK(!gives(image, {fixed(6), fixed(3), fixed(3), fixed(1)},
               window_settings({{"kernel", {3, 3}}}, 4)));
  CHECK(!inferred(convolution, {{"x", image}, {"weight", weight}, {"bias", {fixed(4)}}}, plain));
  const auto goes_back = [&](LayerAttributes attributes) {
    return inferred(kind_called("transposed_convolution"), {{"x", image}, {"weight", weight}},
                    std::move(attributes))
        .has_value();
  };
  CHECK(goes_back(plain));
  CHECK(!goes_back(window_settings({{"kernel", {3, 3}}}, 1, {1, 0})));
  CHECK(!goes_back(window_settings({{"kernel", {3, 3}}, {"stride", {2, 2}}}, 1, {1})));
  CHECK(!goes_back(window_settings({{"kernel", {3, 3}}, {"padding", {5, 0, 4, 0}}})));
  CHECK(!goes_back(window_settings({{"kernel", {3, 2}}})));
  const Shape video = {kBatch, kTime, fixed(6), fixed(4)};
  CHECK(gives(video, weight, window_settings({{"kernel", {3, 3}}, {"padding", {1, 0, 1, 0}}})));
  CHECK(
      !gives(video, weight,
             window_settings({{"kernel", {3, 3}}, {"stride", {2, 1}}, {"padding", {1, 0, 1, 0}}})));
}

namespace {

/// What D77 and D79 count over n places, floor and all.
struct Counted {
  std::int64_t kernel, stride, dilation, padding;

  [[nodiscard]] std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
  [[nodiscard]] std::int64_t windows(std::int64_t n) const {
    const std::int64_t rest = n + padding - reach();
    return rest < 0 ? 0 : rest / stride + 1;
  }
  [[nodiscard]] std::int64_t places(std::int64_t n, std::int64_t more) const {
    return (n - 1) * stride + reach() + more - padding;
  }
};

/// factor * count(side) at sides that tell all lines through small numbers apart.
template <class Count>
bool is_multiple(const Count& count, std::int64_t factor) {
  for (const std::int64_t side : {1, 2, 3, 5, 8, 13})
    if (count(side) != factor * side) return false;
  return true;
}

}  // namespace

TEST_CASE("D113, D114: symbols go through windows where their number is one of it at every size") {
  const auto of = [](std::int64_t factor) { return Dimension{0, "side", factor}; };
  int taken = 0;
  for (std::int64_t kernel : {1, 2, 3, 4})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t dilation : {1, 2})
        for (std::int64_t padding = 0; padding <= 4; ++padding)
          for (std::int64_t factor : {1, 2, 3, 4, 6}) {
            const Counted counted{kernel, stride, dilation, padding};
            CAPTURE(kernel);
            CAPTURE(stride);
            CAPTURE(dilation);
            CAPTURE(padding);
            CAPTURE(factor);
            const Lists lists = {{"kernel", {kernel}},
                                 {"stride", {stride}},
                                 {"dilation", {dilation}},
                                 {"padding", {padding / 2, padding - padding / 2}}};
            const Shape x = {kBatch, of(factor), fixed(4)},
                        weight = {fixed(5), fixed(kernel), fixed(4)};
            const auto windows = inferred(kind_called("convolution"),
                                          {{"x", x}, {"weight", weight}}, window_settings(lists));
            const bool is_part =
                factor % stride == 0 &&
                is_multiple([&](std::int64_t side) { return counted.windows(factor * side); },
                            factor / stride);
            CHECK(windows.has_value() == is_part);
            if (windows) CHECK(*windows == Shape{kBatch, of(factor / stride), fixed(5)});
            taken += windows.has_value() ? 1 : 0;
            for (std::int64_t more = 0; more < stride; ++more) {
              const auto places =
                  inferred(kind_called("transposed_convolution"), {{"x", x}, {"weight", weight}},
                           window_settings(lists, 1, {more}));
              const bool is_whole = is_multiple(
                  [&](std::int64_t side) { return counted.places(factor * side, more); },
                  factor * stride);
              CHECK(places.has_value() == is_whole);
              if (places) CHECK(*places == Shape{kBatch, of(factor * stride), fixed(5)});
              taken += places.has_value() ? 1 : 0;
            }
          }
  CHECK(taken > 100);
}

TEST_CASE("D116: windows over sums are taken where their number is one of a symbol at every size") {
  const auto of = [](std::int64_t factor, std::int64_t added) {
    return Dimension{added, "side", factor};
  };
  const auto padded = [&](const Dimension& length, std::int64_t before, std::int64_t after,
                          const char* mode) {
    return inferred(kind_called("pad"), {{"x", {kBatch, length, fixed(4)}}},
                    pad_settings({before, after}, mode));
  };
  CHECK(padded(of(4, 0), 3, 2, "reflect") == Shape{kBatch, of(4, 5), fixed(4)});
  CHECK(padded(of(4, 5), -3, -2, "circular") == Shape{kBatch, of(4, 0), fixed(4)});
  CHECK(padded(of(1, 0), -3, 1, "constant") == Shape{kBatch, of(1, -2), fixed(4)});
  CHECK(!padded(of(1, 0), 33, 0, "replicate"));
  int taken = 0;
  for (std::int64_t kernel : {1, 2, 3, 4})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t dilation : {1, 2})
        for (std::int64_t padding : {0, 1, 2})
          for (std::int64_t added = -3; added <= 5; ++added)
            for (std::int64_t factor : {6, 8}) {
              const Counted counted{kernel, stride, dilation, padding};
              CAPTURE(kernel);
              CAPTURE(stride);
              CAPTURE(dilation);
              CAPTURE(padding);
              CAPTURE(added);
              CAPTURE(factor);
              const auto windows =
                  inferred(kind_called("convolution"),
                           {{"x", {kBatch, of(factor, added), fixed(4)}},
                            {"weight", {fixed(5), fixed(kernel), fixed(4)}}},
                           window_settings({{"kernel", {kernel}},
                                            {"stride", {stride}},
                                            {"dilation", {dilation}},
                                            {"padding", {padding / 2, padding - padding / 2}}}));
              const bool is_part =
                  factor % stride == 0 &&
                  is_multiple(
                      [&](std::int64_t side) { return counted.windows(factor * side + added); },
                      factor / stride);
              CHECK(windows.has_value() == is_part);
              if (windows) CHECK(*windows == Shape{kBatch, of(factor / stride, 0), fixed(5)});
              taken += windows.has_value() ? 1 : 0;
            }
  CHECK(taken > 100);
}

TEST_CASE("D116: layers bound the symbols of their lengths") {
  const auto parsed = parse(
      "halftone description 1\n"
      "model \"bounded\"\n"
      "input %x : f32[batch, 2*side, 4]\n"
      "%a = pad(x: %x) {padding: [3, 1], mode: reflect} : [batch, 2*side + 4, 4]\n"
      "%b = pad(x: %a) {padding: [-4, -3], mode: constant} : [batch, 2*side - 3, 4]\n"
      "%c = pad(x: %b) {padding: [0, 3], mode: circular} : [batch, 2*side, 4]\n"
      "%d = pool(x: %c) {kernel: [3], stride: [1], dilation: [4], padding: [3, 5], "
      "function: max} : [batch, 2*side, 4]\n"
      "%e = adaptive_pool(x: %d) {size: [5], function: max} : [batch, 5, 4]\n"
      "output \"y\" = %e\n"
      "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\n");
  REQUIRE(std::holds_alternative<Description>(parsed));
  std::string text;
  for (const SizeLimit& limit : size_limits(std::get<Description>(parsed))) {
    text += limit.symbol + " " + std::to_string(limit.least);
    if (limit.most != kNoMost) text += " to " + std::to_string(limit.most);
    text += ": " + limit.node + " " + limit.reason + "\n";
  }
  CHECK(text ==
        "side 2: a has a padding of 3 at a dimension of 2*side, reflect\n"
        "side 2: b cuts 7 elements of 2*side + 4\n"
        "side 3: c has a padding of 3 at a dimension of 2*side - 3, circular\n"
        "side 2: d has a window that steps over all of 2*side by its dilation of 4\n"
        "side 3 to 158: e makes 5 windows of 2*side places, each of 1 to 64 elements along it\n");
}

TEST_CASE("D116: bounds of a symbol that leave no size are refused, naming both layers") {
  const auto with = [](const std::string& windows) {
    return parse(
        "halftone description 1\n"
        "model \"bounded\"\n"
        "input %x : f32[batch, side, 6, 4]\n"
        "%a = adaptive_pool(x: %x) {size: [" +
        windows + ", 6], function: max} : [batch, " + windows +
        ", 6, 4]\n"
        "%b = adaptive_pool(x: %x) {size: [2, 1], function: max} : [batch, 2, 1, 4]\n"
        "output \"y\" = %a\n"
        "output \"z\" = %b\n"
        "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\n");
  };
  CHECK(std::holds_alternative<Description>(with("19")));
  const auto refused = with("20");
  REQUIRE(std::holds_alternative<ParseError>(refused));
  CHECK(std::get<ParseError>(refused).line == 5);
  CHECK(std::get<ParseError>(refused).message ==
        "adaptive_pool '%b' makes 2 windows of side places, each of 1 to 10 elements along it, "
        "which wants 'side' to be 19 or less, but '%a' makes 20 windows of side places, each of 1 "
        "to 64 elements along it, which wants 20 or more; give one of them a number, or another "
        "symbol (D116)");
}

TEST_CASE("D115: what stretches and what makes channels of places multiplies and divides factors") {
  const auto of = [](std::int64_t factor) { return Dimension{0, "side", factor}; };
  const auto up = [&](std::int64_t from, std::int64_t factor) {
    return inferred(kind_called("upsample"), {{"x", {of(from), fixed(4)}}},
                    upsample_settings({factor}));
  };
  CHECK(up(3, 2) == Shape{of(6), fixed(4)});
  CHECK(up(8192, 8) == Shape{of(65536), fixed(4)});
  CHECK(!up(8193, 8));
  const auto shuffles = [&](std::int64_t from, std::int64_t factor, bool inverse) {
    return inferred(kind_called("pixel_shuffle"), {{"x", {of(from), fixed(4)}}},
                    shuffle_settings({factor}, inverse));
  };
  CHECK(shuffles(3, 2, false) == Shape{of(6), fixed(2)});
  CHECK(shuffles(6, 3, true) == Shape{of(2), fixed(12)});
  CHECK(!shuffles(6, 4, true));
  const auto reshapes = [&](Shape from, const Shape& to) {
    return inferred(kind_called("reshape"), {{"x", std::move(from)}},
                    LayerAttributes{{{"shape", to}}, {}})
        .has_value();
  };
  CHECK(reshapes({kBatch, of(4), of(6), fixed(5)}, {kBatch, of(1), of(8), fixed(15)}));
  CHECK(!reshapes({kBatch, of(4), of(6), fixed(5)}, {kBatch, of(2), of(6), fixed(5)}));
  CHECK(!reshapes({kBatch, of(4), of(6), fixed(5)}, {kBatch, of(24), fixed(5)}));
  CHECK(!reshapes({kBatch, of(4), fixed(5)}, {kBatch, Dimension{0, "time", 4}, fixed(5)}));
}

TEST_CASE("pools have windows of few elements that reach x, and upsampling numbers to multiply") {
  const Shape image = {kBatch, fixed(17), fixed(17), fixed(4)};
  const auto pools = [&](LayerAttributes attributes) {
    return inferred(kind_called("pool"), {{"x", image}}, std::move(attributes)).has_value();
  };
  CHECK(pools(pool_settings({{"kernel", {16, 16}}})));
  CHECK(!pools(pool_settings({{"kernel", {16, 17}}})));
  CHECK(!pools(pool_settings({{"kernel", {3}}, {"stride", {1, 1}}})));
  CHECK(pools(pool_settings({{"kernel", {3, 3}}, {"padding", {2, 0, 0, 2}}})));
  CHECK(!pools(pool_settings({{"kernel", {3, 3}}, {"padding", {3, 0, 0, 0}}})));
  CHECK(!pools(pool_settings({{"kernel", {3, 3}}, {"padding", {0, 0, 0, 3}}})));
  CHECK(
      pools(pool_settings({{"kernel", {3, 3}}, {"dilation", {1, 2}}, {"padding", {0, 0, 0, 4}}})));
  for (std::int64_t kernel : {1, 2, 3})
    for (std::int64_t stride : {1, 2, 3, 5})
      for (std::int64_t dilation : {1, 3, 4, 5, 6, 9})
        for (std::int64_t before = 0; before <= dilation * (kernel - 1); ++before)
          for (std::int64_t after : {std::int64_t{0}, dilation * (kernel - 1)}) {
            const std::int64_t places = 4, padded = places + before + after,
                               reach = dilation * (kernel - 1) + 1;
            if (padded < reach) continue;
            bool all_have = true;
            for (std::int64_t i = 0; i <= (padded - reach) / stride; ++i) {
              bool has = false;
              for (std::int64_t p = 0; p < kernel; ++p) {
                const std::int64_t place = i * stride + p * dilation - before;
                has = has || (place >= 0 && place < places);
              }
              all_have = all_have && has;
            }
            CAPTURE(kernel);
            CAPTURE(stride);
            CAPTURE(dilation);
            CAPTURE(before);
            CAPTURE(after);
            CHECK(inferred(kind_called("pool"), {{"x", {kBatch, fixed(places), fixed(2)}}},
                           pool_settings({{"kernel", {kernel}},
                                          {"stride", {stride}},
                                          {"dilation", {dilation}},
                                          {"padding", {before, after}}}))
                      .has_value() == all_have);
          }
  CHECK(pools(pool_settings({{"kernel", {3, 3}}}, "average", true)));
  CHECK(!pools(pool_settings({{"kernel", {3, 3}}}, "max", true)));
  const auto grows = [](const Shape& x, std::vector<std::int64_t> factor) {
    return inferred(kind_called("upsample"), {{"x", x}}, upsample_settings(std::move(factor)))
        .has_value();
  };
  CHECK(grows(image, {8, 8}));
  CHECK(!grows({kBatch, fixed(2), fixed(2), fixed(2), fixed(2)}, {4, 4, 5}));
  CHECK(!grows(image, {}));
  CHECK(!grows({fixed(2), fixed(2), fixed(2), fixed(2), fixed(2)}, {1, 1, 1, 1}));
  CHECK(!grows({fixed(9), fixed(9), fixed(4)}, {1, 1, 1}));
  CHECK(grows({kBatch, kTime, fixed(9), fixed(4)}, {2, 2}));
  CHECK(!grows({kBatch, fixed(9), fixed(9), kTime}, {2, 2}));
}

TEST_CASE("windows that share an image have few elements, and elements few windows") {
  const auto shares = [](const Shape& x, std::vector<std::int64_t> size) {
    return inferred(kind_called("adaptive_pool"), {{"x", x}}, adaptive_settings(std::move(size)))
        .has_value();
  };
  const Shape image = {kBatch, fixed(8), fixed(9), fixed(4)};
  CHECK(shares(image, {1, 2}));                                      // 8 * 5
  CHECK(!shares(image, {1, 1}));                                     // 8 * 9
  CHECK(shares({kBatch, fixed(21), fixed(20), fixed(1)}, {3, 3}));   // 7 * 8
  CHECK(!shares({kBatch, fixed(25), fixed(20), fixed(1)}, {3, 3}));  // 9 * 8
  CHECK(shares({kBatch, fixed(1), fixed(1), fixed(1)}, {8, 8}));
  CHECK(!shares({kBatch, fixed(1), fixed(1), fixed(1)}, {8, 9}));
  CHECK(!shares(image, {}));
  CHECK(!shares({fixed(2), fixed(2), fixed(2), fixed(2), fixed(2)}, {1, 1, 1, 1}));
  CHECK(!shares({fixed(9), fixed(9), fixed(4)}, {9, 9, 9}));
  CHECK(shares({kBatch, kTime, fixed(4)}, {2}));
  CHECK(!shares({kBatch, Dimension{0, "time", 129}, fixed(4)}, {2}));
  CHECK(shares({kBatch, Dimension{0, "time", 128}, fixed(4)}, {2}));         // 64 a window
  CHECK(!shares({kBatch, Dimension{1, "time", 128}, fixed(4)}, {2}));        // and one more
  CHECK(!shares({kBatch, kTime, fixed(9), fixed(9), fixed(4)}, {1, 1, 1}));  // 81 without it
  CHECK(!shares({kBatch, fixed(8), kTime}, {2}));
}

TEST_CASE("padding repeats elements that there are, and leaves some") {
  const auto pads = [](const Shape& x, LayerAttributes attributes) {
    return inferred(kind_called("pad"), {{"x", x}}, std::move(attributes)).has_value();
  };
  const Shape line = {kBatch, fixed(5), fixed(4)};
  CHECK(pads(line, pad_settings({4, 4}, "reflect")));
  CHECK(!pads(line, pad_settings({5, 0}, "reflect")));
  CHECK(!pads(line, pad_settings({0, 5}, "reflect")));
  CHECK(pads(line, pad_settings({5, 5}, "circular")));
  CHECK(!pads(line, pad_settings({6, -3}, "circular")));
  CHECK(pads(line, pad_settings({32, 32}, "replicate")));
  CHECK(!pads(line, pad_settings({0, 33}, "replicate")));
  CHECK(pads(line, pad_settings({-2, -2}, "constant")));
  CHECK(!pads(line, pad_settings({-2, -3}, "constant")));
  CHECK(!pads(line, pad_settings({1, 1}, "reflect", 0)));
  CHECK(!pads(line, pad_settings({}, "constant")));
  CHECK(!pads(line, pad_settings({1}, "constant")));
  CHECK(!pads(line, pad_settings({1, 1, 1, 1, 1, 1}, "constant")));
  CHECK(!pads({fixed(2), fixed(2), fixed(2), fixed(2), fixed(2)},
              pad_settings({0, 0, 0, 0, 0, 0, 0, 0}, "constant")));
  CHECK(pads({kBatch, kTime, fixed(4)}, pad_settings({1, -1}, "constant")));
  CHECK(!pads({kBatch, fixed(5), kTime}, pad_settings({1, -1}, "constant")));
}

TEST_CASE("places and channels become each other in whole blocks") {
  const auto shuffles = [](const Shape& x, LayerAttributes attributes) {
    return inferred(kind_called("pixel_shuffle"), {{"x", x}}, std::move(attributes)).has_value();
  };
  const Shape image = {kBatch, fixed(6), fixed(4), fixed(8)};
  CHECK(shuffles(image, shuffle_settings({2, 2})));
  CHECK(!shuffles(image, shuffle_settings({3, 2})));
  CHECK(shuffles(image, shuffle_settings({3, 2}, true)));
  CHECK(!shuffles(image, shuffle_settings({4, 2}, true)));
  CHECK(!shuffles(image, shuffle_settings({})));
  CHECK(!shuffles({fixed(8)}, shuffle_settings({2})));
  CHECK(shuffles({kBatch, kTime, fixed(8)}, shuffle_settings({2})));
  CHECK(!shuffles({kBatch, kTime, fixed(8)}, shuffle_settings({2}, true)));
  CHECK(!shuffles({kBatch, fixed(8), kTime}, shuffle_settings({2})));
}

// SPDX-License-Identifier: Apache-2.0
// D85 to D88, D99 and D100: pools and upsampling by themselves, against numpy's f32 bit by bit,
// which torch agrees with (record_resampling.py), and against central differences in double.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "layer_case.hpp"
#include "resampling_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Numbers = std::vector<std::int64_t>;

struct PoolCase {
  Extents x, y;
  Numbers kernel, stride{}, dilation{}, padding{};
  const char* function = "max";
  bool count_include_pad = false;
};

LayerCase pool(std::string name, const PoolCase& of) {
  LayerCase layer{std::move(name), "pool", {values("x", of.x, 1)}, of.y};
  layer.settings.lists["kernel"] = of.kernel;
  if (!of.stride.empty()) layer.settings.lists["stride"] = of.stride;
  if (!of.dilation.empty()) layer.settings.lists["dilation"] = of.dilation;
  if (!of.padding.empty()) layer.settings.lists["padding"] = of.padding;
  layer.settings.words["function"] = of.function;
  if (of.count_include_pad) layer.settings.flags.insert("count_include_pad");
  return layer;
}

LayerCase adaptive(std::string name, const Extents& x, const Numbers& size, const char* function) {
  Extents y = x;
  for (std::size_t d = 0; d < size.size(); ++d) y[y.size() - 1 - size.size() + d] = size[d];
  LayerCase layer{std::move(name), "adaptive_pool", {values("x", x, 1)}, y};
  layer.settings.lists["size"] = size;
  layer.settings.words["function"] = function;
  return layer;
}

LayerCase upsample(std::string name, const Extents& x, const Numbers& factor, const char* mode) {
  Extents y = x;
  for (std::size_t d = 0; d < factor.size(); ++d) y[y.size() - 1 - factor.size() + d] *= factor[d];
  LayerCase layer{std::move(name), "upsample", {values("x", x, 1)}, y};
  layer.settings.lists["factor"] = factor;
  layer.settings.words["mode"] = mode;
  return layer;
}

std::vector<LayerCase> smooth_layers() {
  return {
      pool("max of a plane", {.x = {2, 7, 6, 3},
                              .y = {2, 4, 3, 3},
                              .kernel = {3, 3},
                              .stride = {2, 2},
                              .padding = {1, 1, 1, 1}}),
      pool("max of a line, far apart",
           {.x = {3, 11, 4}, .y = {3, 9, 4}, .kernel = {4}, .dilation = {2}, .padding = {2, 2}}),
      pool("max of a film, padded on one side", {.x = {2, 3, 4, 5, 2},
                                                 .y = {2, 3, 2, 5, 2},
                                                 .kernel = {2, 2, 3},
                                                 .stride = {1, 2, 1},
                                                 .padding = {1, 0, 0, 0, 1, 2}}),
      pool("mean of a plane", {.x = {2, 6, 6, 3},
                               .y = {2, 3, 3, 3},
                               .kernel = {2, 2},
                               .stride = {2, 2},
                               .function = "average"}),
      pool("mean of a plane with its padding", {.x = {2, 7, 5, 3},
                                                .y = {2, 4, 5, 3},
                                                .kernel = {3, 3},
                                                .stride = {2, 1},
                                                .padding = {1, 1, 1, 1},
                                                .function = "average",
                                                .count_include_pad = true}),
      pool("mean of a plane without its padding", {.x = {2, 7, 5, 3},
                                                   .y = {2, 4, 5, 3},
                                                   .kernel = {3, 3},
                                                   .stride = {2, 1},
                                                   .padding = {1, 1, 1, 1},
                                                   .function = "average"}),
      pool("mean of a line, far apart", {.x = {3, 9, 4},
                                         .y = {3, 5, 4},
                                         .kernel = {3},
                                         .stride = {2},
                                         .dilation = {2},
                                         .padding = {3, 1},
                                         .function = "average"}),
      pool("mean of a film", {.x = {2, 4, 4, 3, 2},
                              .y = {2, 3, 4, 2, 2},
                              .kernel = {2, 3, 2},
                              .stride = {2, 1, 1},
                              .padding = {1, 1, 0, 1, 1, 0},
                              .function = "average"}),
      adaptive("largest of shares of a plane", {2, 5, 7, 3}, {3, 5}, "max"),
      adaptive("largest of shares of a film", {2, 3, 2, 4, 2}, {2, 3, 3}, "max"),
      adaptive("mean of shares of a plane", {2, 5, 7, 3}, {3, 4}, "average"),
      adaptive("mean of more shares than places", {3, 3, 4}, {8}, "average"),
      adaptive("mean of whole shares", {2, 6, 4, 3}, {3, 1}, "average"),
      adaptive("mean of shares of a film", {2, 3, 2, 4, 2}, {2, 3, 3}, "average"),
      upsample("nearest of a plane", {2, 3, 4, 3}, {2, 3}, "nearest"),
      upsample("nearest of a line", {3, 5, 4}, {8}, "nearest"),
      upsample("nearest of a film", {2, 2, 3, 2, 2}, {2, 1, 3}, "nearest"),
      upsample("linear of a line", {3, 5, 4}, {2}, "linear"),
      upsample("linear of a line of one", {3, 1, 4}, {3}, "linear"),
      upsample("linear of a plane", {2, 3, 4, 3}, {2, 3}, "linear"),
      upsample("linear of a film", {2, 2, 3, 2, 2}, {4, 1, 5}, "linear"),
  };
}

// Which a difference cannot judge.
LayerCase max_of_equal_elements() {
  LayerCase layer = pool("max of equal elements", {.x = {2, 7, 6, 3},
                                                   .y = {2, 7, 4, 3},
                                                   .kernel = {3, 2},
                                                   .stride = {1, 2},
                                                   .padding = {1, 1, 1, 1}});
  for (double& value : layer.operands[0].values) value = std::floor(value * 4) / 4;
  return layer;
}

// One sequence of one channel.
LayerCase line(const Values<double>& x, PoolCase of) {
  of.x = {std::ssize(x), 1};
  LayerCase layer = pool("", of);
  layer.operands[0].values = x;
  return layer;
}

Values<float> gradient(const LayerCase& layer, const Values<float>& g) {
  return gradients_of(layer.kind, layer_of<float>(layer), View<float>(g))[0];
}

}  // namespace

TEST_CASE("pools and upsampling have numpy's bits") {
  std::vector<LayerCase> layers = smooth_layers();
  layers.push_back(max_of_equal_elements());
  for (const LayerCase& layer : layers) {
    check_bits(kResamplingBits, layer.name + " result", result<float>(layer));
    check_bits(kResamplingBits, layer.name + " x", gradients<float>(layer)[0]);
  }
}

TEST_CASE("gradients of pools and upsampling agree with central differences") {
  for (LayerCase& layer : smooth_layers()) {
    CAPTURE(layer.name);
    check_first_gradient(layer);
  }
}

TEST_CASE("declared pools and upsampling stay within the bound of exact ones") {
  for (const LayerCase& layer : smooth_layers()) {
    CAPTURE(layer.name);
    check_declared_layer(layer);
  }
}

TEST_CASE("of equal elements the first is the largest, of NaN the last") {
  const PoolCase of{.x = {}, .y = {1, 1}, .kernel = {4}};
  CHECK(gradient(line({1, 2, 2, 2}, of), {3}) == Values<float>{0, 3, 0, 0});
  CHECK(gradient(line({-0.0, 0.0, -0.0, 0.0}, of), {3}) == Values<float>{3, 0, 0, 0});
  CHECK(std::signbit(result<float>(line({-0.0, 0.0, -0.0, 0.0}, of))[0]));
  CHECK(gradient(line({1, kNan, 5, 2}, of), {3}) == Values<float>{0, 3, 0, 0});
  CHECK(gradient(line({1, kNan, 5, kNan}, of), {3}) == Values<float>{0, 0, 0, 3});
  CHECK(std::isnan(result<float>(line({1, kNan, 5, 2}, of))[0]));
}

TEST_CASE("padding is no element of a maximum, and a zero of a mean if it counts") {
  const PoolCase of{
      .x = {}, .y = {3, 1}, .kernel = {3}, .stride = {1}, .dilation = {}, .padding = {1, 1}};
  CHECK(result<float>(line({-3, -2, -4}, of)) == Values<float>{-2, -2, -2});
  CHECK(result<float>(line({-kInfinity, -kInfinity, -kInfinity}, of))[0] == -kInfinity);
  PoolCase mean = of;
  mean.function = "average";
  CHECK(result<float>(line({-3, -3, -6}, mean)) == Values<float>{-3, -4, -4.5f});
  mean.count_include_pad = true;
  CHECK(result<float>(line({-3, -3, -6}, mean)) == Values<float>{-2, -4, -3});
}

TEST_CASE("a window that has nothing but padding is -infinity, or NaN") {
  // Elements 3 apart: the first window has one before x and one behind it.
  PoolCase of{
      .x = {}, .y = {2, 1}, .kernel = {2}, .stride = {1}, .dilation = {3}, .padding = {1, 2}};
  CHECK(result<float>(line({5, 7}, of)) == Values<float>{-kInfinity, 5});
  CHECK(gradient(line({5, 7}, of), {1, 3}) == Values<float>{3, 0});
  of.function = "average";
  const Values<float> means = result<float>(line({5, 7}, of));
  CHECK(std::isnan(means[0]));
  CHECK(means[1] == 5);
  CHECK(gradient(line({5, 7}, of), {1, 3}) == Values<float>{3, 0});
  of.count_include_pad = true;
  CHECK(result<float>(line({5, 7}, of)) == Values<float>{0, 2.5f});
}

TEST_CASE("a maximum's element is that of what forward read") {
  Layer<float> layer = layer_of<float>(line({1, 2, 3}, {.x = {}, .y = {1, 1}, .kernel = {3}}));
  for (float& value : layer.operands[0].values) value = -value;
  const Values<float> g{4};
  CHECK(gradients_of("pool", layer, View<float>(g))[0] == Values<float>{0, 0, 4});
}

TEST_CASE("sums begin at +0 and go on in row-major order") {
  const LayerCase mean =
      line({-0.0, -0.0}, {.x = {}, .y = {1, 1}, .kernel = {2}, .function = "average"});
  CHECK(!std::signbit(result<float>(mean)[0]));
  CHECK(!std::signbit(gradient(mean, {-0.0f})[0]));
  const LayerCase large =
      line({0x1p24, 1, 1, -0x1p24}, {.x = {}, .y = {1, 1}, .kernel = {4}, .function = "average"});
  CHECK(result<float>(large)[0] == 0);  // 1 is lost each time
  LayerCase nearest = upsample("", {1, 1}, {4}, "nearest");
  CHECK(gradient(nearest, {0x1p24f, 1, 1, -0x1p24f})[0] == 0);
  CHECK(!std::signbit(gradient(nearest, {-0.0f, -0.0f, -0.0f, -0.0f})[0]));
}

TEST_CASE("a line through an element's middle is that element, whatever lies beside it") {
  LayerCase linear = upsample("", {3, 1}, {3}, "linear");
  linear.operands[0].values = {1, kInfinity, kNan};
  const Values<float> y = result<float>(linear);
  CHECK(y[1] == 1);
  CHECK(y[4] == kInfinity);
  CHECK(std::isnan(y[5]));
  CHECK(y[0] == 1);  // clamped
  const Values<float> of_x = gradient(linear, {0, 0, 0, 0, kInfinity, 0, 0, 0, 0});
  CHECK(of_x == Values<float>{0, kInfinity, 0});
}

TEST_CASE("a factor of 1 leaves values as they are") {
  LayerCase layer = upsample("", {2, 1}, {1}, "linear");
  layer.operands[0].values = {-0.0, 2};
  CHECK(std::signbit(result<float>(layer)[0]));
  CHECK(std::signbit(gradient(layer, {-0.0f, 1})[0]));
}

TEST_CASE("of equal elements of a share the first is the largest, of NaN the last") {
  LayerCase layer = adaptive("", {4, 1}, {1}, "max");
  layer.operands[0].values = {1, 2, 2, 2};
  CHECK(gradient(layer, {3}) == Values<float>{0, 3, 0, 0});
  layer.operands[0].values = {kNan, 5, kNan, 2};
  CHECK(gradient(layer, {3}) == Values<float>{0, 0, 3, 0});
  layer.operands[0].values = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  CHECK(result<float>(layer)[0] == -kInfinity);
  CHECK(gradient(layer, {3}) == Values<float>{3, 0, 0, 0});
}

TEST_CASE("shares begin and end where their places are rounded outwards") {
  LayerCase layer = adaptive("", {5, 1}, {3}, "average");
  layer.operands[0].values = {1, 2, 4, 8, 16};
  CHECK(result<float>(layer) == Values<float>{1.5f, 14.0f / 3.0f, 12});
  CHECK(gradient(layer, {2, 3, 4}) == Values<float>{1, 2, 1, 3, 2});
}

// SPDX-License-Identifier: Apache-2.0
// D91, D92, D97 and D98: padding and blocks of places by themselves, against numpy's f32 bit by
// bit, which torch agrees with (record_padding.py), and against central differences in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layer_case.hpp"
#include "padding_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

using Numbers = std::vector<std::int64_t>;

LayerCase pad(std::string name, const Extents& x, const Numbers& padding, const char* mode,
              std::optional<double> value = {}) {
  Extents y = x;
  const std::size_t dimensions = padding.size() / 2;
  for (std::size_t d = 0; d < dimensions; ++d)
    y[y.size() - 1 - dimensions + d] += padding[d] + padding[dimensions + d];
  LayerCase layer{std::move(name), "pad", {values("x", x, 1)}, y};
  layer.settings.lists["padding"] = padding;
  layer.settings.words["mode"] = mode;
  if (value) layer.settings.numbers["pad_value"] = *value;
  return layer;
}

LayerCase shuffle(std::string name, const Extents& x, const Extents& y, const Numbers& factor,
                  bool inverse = false) {
  LayerCase layer{std::move(name), "pixel_shuffle", {values("x", x, 1)}, y};
  layer.settings.lists["factor"] = factor;
  if (inverse) layer.settings.flags.insert("inverse");
  return layer;
}

std::vector<LayerCase> layers() {
  const Extents line = {3, 7, 4}, plane = {2, 4, 5, 3}, film = {2, 3, 2, 3, 2};
  return {
      pad("zeros around a plane", plane, {1, 2, 2, 0}, "constant"),
      pad("a value around a film", film, {1, 0, 2, 0, 1, 1}, "constant", 0.75),
      pad("a crop of a plane", {2, 5, 6, 3}, {-1, -2, -1, 0}, "constant"),
      pad("a shift of a line", line, {2, -2}, "constant", -1.5),
      pad("a line reflected", line, {6, 2}, "reflect"),
      pad("a plane reflected", plane, {3, 1, 2, 4}, "reflect"),
      pad("a film reflected", film, {1, 1, 2, 2, 0, 1}, "reflect"),
      pad("a plane reflected and cut", plane, {3, -2, -1, 4}, "reflect"),
      pad("a line replicated", {3, 3, 4}, {5, 2}, "replicate"),
      pad("a plane replicated", plane, {0, 1, 2, 3}, "replicate"),
      pad("a film replicated", film, {1, 1, 2, 2, 0, 1}, "replicate"),
      pad("a plane replicated and cut", plane, {3, -2, -1, 4}, "replicate"),
      pad("a line in a circle", {3, 5, 4}, {5, 3}, "circular"),
      pad("a plane in a circle", plane, {3, 1, 0, 5}, "circular"),
      pad("a film in a circle", film, {1, 2, 2, 3, 0, 1}, "circular"),
      pad("a plane in a circle and cut", plane, {3, -2, -1, 4}, "circular"),
      shuffle("blocks of a plane", {2, 3, 4, 12}, {2, 6, 8, 3}, {2, 2}),
      shuffle("oblong blocks of a plane", {2, 3, 4, 12}, {2, 6, 12, 2}, {2, 3}),
      shuffle("blocks of a line", {3, 5, 8}, {3, 20, 2}, {4}),
      shuffle("blocks of a film", {2, 2, 3, 2, 24}, {2, 4, 3, 6, 4}, {2, 1, 3}),
      shuffle("a plane in blocks", {2, 6, 4, 3}, {2, 3, 2, 12}, {2, 2}, true),
      shuffle("a line in blocks", {3, 6, 5}, {3, 2, 15}, {3}, true),
      shuffle("a film in blocks", {2, 2, 3, 4, 2}, {2, 2, 1, 2, 12}, {1, 3, 2}, true),
  };
}

// One sequence of one channel.
LayerCase line(const Values<double>& x, const Numbers& padding, const char* mode,
               std::optional<double> value = {}) {
  LayerCase layer = pad("", {std::ssize(x), 1}, padding, mode, value);
  layer.operands[0].values = x;
  return layer;
}

Values<float> gradient(const LayerCase& layer, const Values<float>& g) {
  return gradients_of(layer.kind, layer_of<float>(layer), View<float>(g))[0];
}

}  // namespace

TEST_CASE("padding and blocks of places have numpy's bits") {
  for (const LayerCase& layer : layers()) {
    check_bits(kPaddingBits, layer.name + " result", result<float>(layer));
    check_bits(kPaddingBits, layer.name + " x", gradients<float>(layer)[0]);
  }
}

TEST_CASE("gradients of padding and blocks of places agree with central differences") {
  for (LayerCase& layer : layers()) {
    CAPTURE(layer.name);
    check_first_gradient(layer);
  }
}

TEST_CASE("declared padding stays within the bound of exact padding") {
  for (const LayerCase& layer : layers()) {
    CAPTURE(layer.name);
    check_declared_layer(layer);
  }
}

TEST_CASE("what stands beside the elements of x is as each mode says") {
  const Values<double> x = {1, 2, 3, 4};
  const auto padded = [&](const Numbers& padding, const char* mode, std::optional<double> v = {}) {
    return result<float>(line(x, padding, mode, v));
  };
  CHECK(padded({2, 1}, "constant") == Values<float>{0, 0, 1, 2, 3, 4, 0});
  CHECK(padded({2, 1}, "constant", 7) == Values<float>{7, 7, 1, 2, 3, 4, 7});
  CHECK(padded({2, 1}, "constant", 0.1) == Values<float>{0.1f, 0.1f, 1, 2, 3, 4, 0.1f});
  CHECK(padded({3, 3}, "reflect") == Values<float>{4, 3, 2, 1, 2, 3, 4, 3, 2, 1});
  CHECK(padded({2, 1}, "replicate") == Values<float>{1, 1, 1, 2, 3, 4, 4});
  CHECK(padded({4, 2}, "circular") == Values<float>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2});
  CHECK(padded({-1, 2}, "reflect") == Values<float>{2, 3, 4, 3, 2});
  CHECK(padded({-1, -2}, "circular") == Values<float>{2});
  CHECK(padded({0, 0}, "reflect") == Values<float>{1, 2, 3, 4});
}

TEST_CASE("a gradient is a chain from +0 in the order of the padded places") {
  const LayerCase circle = line({1, 2}, {2, 1}, "circular");
  CHECK(gradient(circle, {1, 2, 4, 8, 16}) == Values<float>{1 + 4 + 16, 2 + 8});
  CHECK(gradient(circle, {0x1p24f, 0, 1, 0, 1}) == Values<float>{0x1p24f, 0});  // 1 is lost twice
  CHECK(gradient(circle, {1, 0, 1, 0, 0x1p24f}) == Values<float>{0x1p24f + 2, 0});
  CHECK(!std::signbit(gradient(circle, {-0.0f, 0, -0.0f, 0, -0.0f})[0]));
  const LayerCase mirror = line({1, 2, 3}, {2, 1}, "reflect");
  CHECK(gradient(mirror, {1, 2, 4, 8, 16, 32}) == Values<float>{4, 2 + 8 + 32, 1 + 16});
  const LayerCase ends = line({1, 2, 3}, {2, 1}, "replicate");
  CHECK(gradient(ends, {1, 2, 4, 8, 16, 32}) == Values<float>{1 + 2 + 4, 8, 16 + 32});
}

TEST_CASE("what is left out has the gradient +0, and what nothing repeats the one that arrives") {
  const LayerCase crop = line({1, 2, 3}, {1, -1}, "constant");
  const Values<float> of_x = gradient(crop, {5, -0.0f, 7});
  CHECK(std::signbit(of_x[0]));
  CHECK(of_x[1] == 7);
  CHECK(of_x[2] == 0);
  CHECK(!std::signbit(of_x[2]));
  CHECK(std::signbit(gradient(line({1, 2}, {0, 0}, "reflect"), {-0.0f, 1})[0]));
}

TEST_CASE("channel c f f + i f + j is row i and column j of channel c's block, as in torch") {
  LayerCase layer = shuffle("", {1, 1, 8}, {2, 2, 2}, {2, 2});
  layer.operands[0].values = {0, 1, 2, 3, 10, 11, 12, 13};
  CHECK(result<float>(layer) == Values<float>{0, 10, 1, 11, 2, 12, 3, 13});
  LayerCase back = shuffle("", {2, 2, 2}, {1, 1, 8}, {2, 2}, true);
  back.operands[0].values = {0, 10, 1, 11, 2, 12, 3, 13};
  CHECK(result<float>(back) == Values<float>{0, 1, 2, 3, 10, 11, 12, 13});
}

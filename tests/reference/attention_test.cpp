// SPDX-License-Identifier: Apache-2.0
// attention (D61, D62) against torch, and where queries keep no key.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "attention_expected.hpp"
#include "layer_case.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr std::int64_t kBatch = 2, kQueries = 5, kKeys = 7, kHeads = 6, kKeyHeads = 2, kColumns = 4,
                       kValueColumns = 3;

/// As record_attention.py has it.
LayerCase attention(std::string name) {
  LayerCase layer{std::move(name),
                  "attention",
                  {values("query", {kBatch, kQueries, kHeads * kColumns}, 1),
                   values("key", {kBatch, kKeys, kKeyHeads * kColumns}, 2),
                   values("value", {kBatch, kKeys, kKeyHeads * kValueColumns}, 3)},
                  {kBatch, kQueries, kHeads * kValueColumns}};
  layer.settings.numbers["heads"] = kHeads;
  layer.settings.numbers["key_heads"] = kKeyHeads;
  return layer;
}

LayerCase causal() {
  LayerCase layer = attention("causal");
  layer.settings.flags.insert("causal");
  return layer;
}

LayerCase window_and_scale() {
  LayerCase layer = causal();
  layer.name = "window and scale";
  layer.settings.numbers["window"] = 2;
  layer.settings.numbers["score_scale"] = 0.3;
  return layer;
}

LayerCase length() {
  LayerCase layer = attention("length");
  layer.operands.push_back(integers("length", {kBatch}, {4, 0}));
  return layer;
}

LayerCase key_mask() {
  LayerCase layer = attention("key_mask");
  Integers kept;
  for (int i = 0; i < kBatch * kKeys; ++i) kept.push_back(i * 5 % 3);
  layer.operands.push_back(integers("key_mask", {kBatch, kKeys}, kept));
  return layer;
}

LayerCase alibi() {
  LayerCase layer = attention("alibi");
  layer.settings.flags.insert("alibi");
  return layer;
}

LayerCase soft_cap(double cap = 0.5) {
  LayerCase layer = attention("soft_cap");
  layer.settings.numbers["soft_cap"] = cap;
  return layer;
}

std::vector<LayerCase> all() {
  return {attention("plain"), causal(), window_and_scale(), length(),
          key_mask(),         alibi(),  soft_cap()};
}

/// No further apart than f64 sums of a few hundred terms, and torch's f32 constants, are.
void check_near(const std::string& name, const Values<double>& values) {
  CAPTURE(name);
  const auto* expected = std::ranges::find(kAttention, name, &Numbers::name);
  REQUIRE(expected != std::end(kAttention));
  REQUIRE(values.size() == expected->values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(values[i] - expected->values[i]) <= 1e-13 * (1 + std::abs(values[i])));
  }
}

}  // namespace

TEST_CASE("attention has torch's results and gradients") {
  for (const LayerCase& layer : all()) {
    check_near(layer.name + " result", result<double>(layer));
    const OperandGradients<double> of = gradients<double>(layer);
    for (std::size_t i = 0; i < 3; ++i)
      check_near(layer.name + " " + layer.operands[i].role, of[i]);
    for (std::size_t i = 3; i < of.size(); ++i) CHECK(of[i].empty());
  }
}

TEST_CASE("declared attention stays within the bound of exact attention") {
  for (const LayerCase& layer : {attention("plain"), causal(), length(), alibi(), soft_cap()}) {
    CAPTURE(layer.name);
    Judged judged;
    judged.append(result<double>(layer), result<float>(layer), result<Bounded>(layer));
    const auto exact = gradients<double>(layer);
    const auto declared = gradients<float>(layer);
    const auto bounded = gradients<Bounded>(layer);
    for (std::size_t i = 0; i < 3; ++i) judged.append(exact[i], declared[i], bounded[i]);
    check_declared(judged);
  }
}

TEST_CASE("a query that keeps no key has the result +0 and no gradient") {
  const LayerCase layer = length();
  const Values<float> y = result<float>(layer);
  const OperandGradients<float> of = gradients<float>(layer);
  const auto second_half_is_zero = [](const Values<float>& values) {
    return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                       values.end(), [](float x) { return x == 0 && !std::signbit(x); });
  };
  CHECK(second_half_is_zero(y));
  for (std::size_t i = 0; i < 3; ++i) {
    const auto half = of[i].begin() + static_cast<std::ptrdiff_t>(of[i].size() / 2);
    CHECK(std::all_of(half, of[i].end(), [](float x) { return x == 0; }));
    CHECK(std::any_of(of[i].begin(), half, [](float x) { return x != 0; }));
  }
}

TEST_CASE("segments and lengths mask as key_mask does where they say the same") {
  LayerCase segmented = attention("segments"), masked = attention("masked");
  for (LayerCase* layer : {&segmented, &masked}) {
    layer->operands[0] = values("query", {kBatch, kKeys, kHeads * kColumns}, 1);
    layer->extents[1] = kKeys;
  }
  // In one segment of four keys and one of three, queries of the first see what a length of 4
  // leaves.
  segmented.operands.push_back(
      integers("segment", {kBatch, kKeys}, {1, 1, 1, 1, 2, 2, 2, 0, 0, 0, 0, 9, 9, 9}));
  masked.operands.push_back(integers("length", {kBatch}, {4, 4}));
  const Values<float> a = result<float>(segmented), b = result<float>(masked);
  const std::size_t row = kHeads * kValueColumns;
  for (std::size_t i = 0; i < kBatch * kKeys; ++i) {
    const bool is_first = i % kKeys < 4;
    CAPTURE(i);
    CHECK(std::equal(a.begin() + static_cast<std::ptrdiff_t>(i * row),
                     a.begin() + static_cast<std::ptrdiff_t>((i + 1) * row),
                     b.begin() + static_cast<std::ptrdiff_t>(i * row)) == is_first);
  }
}

TEST_CASE("dropout of weights drops a share of them, and in inference none") {
  LayerCase layer = attention("dropped");
  layer.settings.numbers["dropout_rate"] = 0.25;
  layer.draws = Draws{true, 1, 2, 3, 4};
  const Values<float> plain = result<float>(attention("plain")), dropped = result<float>(layer);
  CHECK(dropped != plain);
  layer.draws->training = false;
  CHECK(result<float>(layer) == plain);
}

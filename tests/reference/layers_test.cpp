// SPDX-License-Identifier: Apache-2.0
// D33 to D39, D52 to D58, D77 to D80, D103, D104 and N9: layers by themselves, against numpy's f32
// bit by bit (record_layers.py) and against central differences in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "layer_case.hpp"
#include "layers_expected.hpp"
#include "losses_expected.hpp"
#include "node_kinds.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

LayerCase rms_norm(std::int64_t rows, std::int64_t n) {
  LayerCase layer{"rms_norm " + std::to_string(rows) + "x" + std::to_string(n),
                  "rms_norm",
                  {values("x", {rows, n}, 1), values("weight", {n}, 2)},
                  {rows, n}};
  layer.settings.numbers["epsilon"] = 1e-5;
  return layer;
}

LayerCase batch_norm(std::int64_t rows, std::int64_t n, bool training = true) {
  LayerCase layer{"batch_norm " + std::to_string(rows) + "x" + std::to_string(n),
                  "batch_norm",
                  {values("x", {rows, n}, 1), values("weight", {n}, 2), values("bias", {n}, 3),
                   values("mean", {n}, 4), values("variance", {n}, 5)},
                  {rows, n}};
  for (double& variance : layer.operands[4].values) variance = static_cast<float>(variance) + 1.5f;
  layer.settings.numbers = {{"epsilon", 1e-5}, {"momentum", 0.3}};
  layer.draws = Draws{.training = training};
  return layer;
}

LayerCase expand(std::int64_t m, std::int64_t places, std::int64_t n) {
  return {"expand " + std::to_string(m) + "x" + std::to_string(places) + "x" + std::to_string(n),
          "expand",
          {values("x", {m, n}, 1)},
          {m, places, n}};
}

LayerCase global_average_pool(std::int64_t m, std::int64_t places, std::int64_t n) {
  return {"global_average_pool " + std::to_string(m) + "x" + std::to_string(places) + "x" +
              std::to_string(n),
          "global_average_pool",
          {values("x", {m, places, n}, 1)},
          {m, n}};
}

LayerCase group_norm(std::int64_t m, std::int64_t places, std::int64_t n, std::int64_t groups) {
  LayerCase layer{
      "group_norm " + std::to_string(m) + "x" + std::to_string(places) + "x" + std::to_string(n) +
          " of " + std::to_string(groups),
      "group_norm",
      {values("x", {m, places, n}, 1), values("weight", {n}, 2), values("bias", {n}, 3)},
      {m, places, n}};
  layer.settings.numbers["epsilon"] = 1e-5;
  if (groups != n) layer.settings.numbers["groups"] = static_cast<double>(groups);
  return layer;
}

// Tokens from -1 to the vocabulary's size, both of which have no row.
LayerCase embedding(std::string name) {
  Integers tokens;
  for (std::int32_t i = 0; i < 301; ++i) tokens.push_back(i * 5 % 9 - 1);
  return {std::move(name),
          "embedding",
          {integers("token", {7, 43}, tokens), values("weight", {7, 5}, 2)},
          {7, 43, 5}};
}

LayerCase embedding_with_padding() {
  LayerCase layer = embedding("embedding with padding");
  layer.settings.numbers["padding_index"] = 3;
  return layer;
}

// 1 / (1 - 0.45) differs in its last bit where float computes it.
LayerCase dropout(std::int64_t elements = 1001, double rate = 0.45) {
  LayerCase layer{"dropout", "dropout", {values("x", {elements}, 1)}, {elements}};
  layer.settings.numbers["rate"] = rate;
  layer.draws = Draws{true, 0x0123456789abcdef, 0xfedcba9876543211, 5, 2};
  return layer;
}

LayerCase transpose(std::string name, std::vector<std::int64_t> axes) {
  const Extents extents{3, 5, 2, 7};
  LayerCase layer{std::move(name), "transpose", {values("x", extents, 1)}, {}};
  for (const std::int64_t axis : axes) layer.extents.push_back(extents[axis]);
  layer.settings.lists["axes"] = std::move(axes);
  return layer;
}

LayerCase matmul(bool transpose_a, bool transpose_b) {
  LayerCase layer{std::string("matmul") + (transpose_a ? " of a transposed" : "") +
                      (transpose_b ? " by b transposed" : ""),
                  "matmul",
                  {values("a", transpose_a ? Extents{3, 37, 5} : Extents{3, 5, 37}, 1),
                   values("b", transpose_b ? Extents{3, 6, 37} : Extents{3, 37, 6}, 2)},
                  {3, 5, 6}};
  if (transpose_a) layer.settings.flags.insert("transpose_a");
  if (transpose_b) layer.settings.flags.insert("transpose_b");
  return layer;
}

// 210 rows, more than N3 sums in one chunk.
LayerCase causal_conv1d() {
  return {"causal_conv1d",
          "causal_conv1d",
          {values("x", {3, 70, 5}, 1), values("weight", {5, 4}, 2), values("bias", {5}, 3)},
          {3, 70, 5}};
}

// Sequences that are shorter than the taps.
LayerCase causal_conv1d_without_bias() {
  return {"causal_conv1d without bias",
          "causal_conv1d",
          {values("x", {2, 3, 4}, 1), values("weight", {4, 5}, 2)},
          {2, 3, 4}};
}

struct WindowCase {
  Extents x, weight, windows;
  std::vector<std::int64_t> stride{}, dilation{}, padding;
  double groups = 1;
  bool has_bias = true;
};

LayerCase windowed(std::string kind, std::string name, const WindowCase& of) {
  LayerCase layer{std::move(name),
                  std::move(kind),
                  {values("x", of.x, 1), values("weight", of.weight, 2)},
                  of.windows};
  if (of.has_bias) layer.operands.push_back(values("bias", {of.weight[0]}, 3));
  layer.settings.lists = {{"kernel", {of.weight.begin() + 1, of.weight.end() - 1}},
                          {"padding", of.padding}};
  if (!of.stride.empty()) layer.settings.lists["stride"] = of.stride;
  if (!of.dilation.empty()) layer.settings.lists["dilation"] = of.dilation;
  if (of.groups != 1) layer.settings.numbers["groups"] = of.groups;
  return layer;
}

std::vector<LayerCase> convolutions() {
  const auto convolution = [](const char* name, const WindowCase& of) {
    return windowed("convolution", name, of);
  };
  const auto transposed = [](const char* name, const WindowCase& of) {
    return windowed("transposed_convolution", name, of);
  };
  return {transposed("transposed convolution of a plane", {.x = {2, 3, 4, 4},
                                                           .weight = {6, 3, 2, 2},
                                                           .windows = {2, 7, 5, 6},
                                                           .stride = {2, 1},
                                                           .dilation = {1, 2},
                                                           .padding = {0, 0, 0, 1},
                                                           .groups = 2}),
          transposed("transposed convolution of a line", {.x = {3, 5, 4},
                                                          .weight = {5, 3, 4},
                                                          .windows = {3, 16, 5},
                                                          .stride = {3},
                                                          .padding = {0, 1},
                                                          .has_bias = false}),
          convolution("convolution of a plane", {.x = {2, 6, 5, 4},
                                                 .weight = {6, 3, 2, 2},
                                                 .windows = {2, 3, 4, 6},
                                                 .stride = {2, 1},
                                                 .dilation = {1, 2},
                                                 .padding = {1, 0, 0, 1},
                                                 .groups = 2}),
          convolution("convolution of a line", {.x = {3, 9, 4},
                                                .weight = {5, 3, 4},
                                                .windows = {3, 9, 5},
                                                .padding = {2, 0},
                                                .has_bias = false}),
          convolution("convolution of each channel", {.x = {2, 4, 3, 5, 3},
                                                      .weight = {6, 2, 3, 2, 1},
                                                      .windows = {2, 2, 3, 2, 6},
                                                      .stride = {2, 1, 2},
                                                      .dilation = {1, 1, 3},
                                                      .padding = {0, 1, 1, 1, 1, 0},
                                                      .groups = 3})};
}

LayerCase reshape() { return {"reshape", "reshape", {values("x", {6, 4}, 1)}, {3, 2, 4}}; }

LayerCase softmax(std::int64_t rows, std::int64_t n, bool log) {
  LayerCase layer{
      log ? "log_softmax" : "softmax", "softmax", {values("x", {rows, n}, 1)}, {rows, n}};
  for (double& x : layer.operands[0].values) x = static_cast<float>(3 * x);
  if (log) layer.settings.flags.insert("log");
  return layer;
}

std::vector<LayerCase> recorded_layers() {
  std::vector<LayerCase> layers = convolutions();
  const LayerCase others[] = {rms_norm(300, 40),
                              rms_norm(2, 2100),
                              batch_norm(300, 7),
                              batch_norm(1, 3),
                              expand(3, 150, 5),
                              global_average_pool(3, 150, 5),
                              group_norm(3, 150, 12, 3),
                              group_norm(2, 40, 5, 5),
                              embedding("embedding"),
                              embedding_with_padding(),
                              dropout(),
                              transpose("transpose of heads", {0, 2, 1, 3}),
                              transpose("transpose of all", {3, 0, 2, 1}),
                              matmul(false, false),
                              matmul(false, true),
                              matmul(true, false),
                              matmul(true, true),
                              causal_conv1d(),
                              causal_conv1d_without_bias()};
  layers.insert(layers.end(), std::begin(others), std::end(others));
  return layers;
}

}  // namespace

TEST_CASE("P39: a kind has the internal values that its form lists") {
  using namespace halftone::description;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    const auto& listed = form_of(kind).internals;
    CAPTURE(std::string(form_of(kind).word));
    CHECK(internals_of(kind) == std::vector<std::string_view>(listed.begin(), listed.end()));
  }
}

TEST_CASE("declared results and gradients have numpy's bits") {
  for (const LayerCase& layer : recorded_layers()) {
    Values<float> y = result<float>(layer);
    for (float& value : y) value = std::isnan(value) ? 0 : value;  // of tokens without a row
    check_bits(kLayerBits, layer.name + " result", y);
    const OperandGradients<float> all = gradients<float>(layer);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].empty()) continue;
      check_bits(kLayerBits, layer.name + " " + layer.operands[i].role, all[i]);
    }
  }
}

TEST_CASE("D103 and D104: softmax, its logarithm and their gradients are torch's") {
  for (const TorchSoftmax& torch : kTorchSoftmax) {
    const LayerCase layer = softmax(6, 9, torch.log);
    CAPTURE(layer.name);
    const Values<double> y = result<double>(layer);
    const Values<double> of_x = gradients<double>(layer)[0];
    REQUIRE(y.size() == torch.result.size());
    REQUIRE(of_x.size() == torch.gradient.size());
    for (std::size_t e = 0; e < y.size(); ++e) {
      CAPTURE(e);
      CHECK(std::fabs(y[e] - torch.result[e]) <= 1e-14 * std::fabs(torch.result[e]));
      CHECK(std::fabs(of_x[e] - torch.gradient[e]) < 1e-14);
    }
  }
}

TEST_CASE("softmax of large, equal and masked elements is finite, and of a NaN it is one") {
  const auto of_row = [](std::vector<double> x, bool log) {
    LayerCase layer = softmax(1, static_cast<std::int64_t>(x.size()), log);
    layer.operands[0].values = std::move(x);
    return result<float>(layer);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(of_row({3e38, 3e38}, false) == Values<float>{0.5f, 0.5f});
  CHECK(of_row({-kInfinity, 5, -kInfinity}, false) == Values<float>{0, 1, 0});
  CHECK(of_row({0, 1000}, true) == Values<float>{-1000, 0});
  CHECK(of_row({7}, true) == Values<float>{0});
  for (const bool log : {false, true})
    for (const float value : of_row({1, std::nan(""), 2}, log)) CHECK(std::isnan(value));
}

TEST_CASE("gradients agree with central differences") {
  std::vector<LayerCase> layers = recorded_layers();
  for (const bool log : {false, true}) layers.push_back(softmax(4, 9, log));
  layers.push_back(rms_norm(3, 9));
  layers.push_back(reshape());
  for (LayerCase& layer : layers) {
    if (layer.name == "embedding with padding") continue;  // leaves a gradient out, on purpose
    for (std::int32_t& token : layer.operands[0].integers) {
      token = (token + 7) % 7;  // a row of NaN has no difference
    }
    CAPTURE(layer.name);
    const Values<double> g = data(count(layer.extents), 9);
    const auto evaluate = [&] {
      Objective objective;
      const Values<double> y = result<double>(layer);
      for (std::size_t e = 0; e < y.size(); ++e) objective.add(g[e] * y[e]);
      return objective;
    };
    OperandGradients<double> all = gradients<double>(layer);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Operand<double>& operand = layer.operands[i];
      CAPTURE(operand.role);
      const auto kept = kept_by(*halftone::description::kind_of(layer.kind));
      if (std::ranges::find(kept, operand.role) != kept.end()) {  // D17
        CHECK(all[i].empty());
        continue;
      }
      const double operations = static_cast<double>(g.size());
      check_gradient(evaluate, operand.values, all[i], operations, 12);
    }
  }
}

TEST_CASE("declared evaluation stays within the bound of exact evaluation") {
  std::vector<LayerCase> layers = convolutions();
  for (const LayerCase& layer :
       {rms_norm(3, 9), rms_norm(2, 2100), batch_norm(20, 3), expand(2, 9, 3),
        global_average_pool(2, 9, 3), group_norm(2, 20, 6, 3), dropout(40), matmul(true, false),
        causal_conv1d(), causal_conv1d_without_bias(), softmax(4, 9, false), softmax(4, 9, true),
        softmax(2, 2100, true)})
    layers.push_back(layer);
  for (const LayerCase& layer : layers) {
    CAPTURE(layer.name);
    Judged judged;
    judged.append(result<double>(layer), result<float>(layer), result<Bounded>(layer));
    const auto exact = gradients<double>(layer);
    const auto declared = gradients<float>(layer);
    const auto bounded = gradients<Bounded>(layer);
    for (std::size_t i = 0; i < exact.size(); ++i) judged.append(exact[i], declared[i], bounded[i]);
    check_declared(judged);
  }
}

TEST_CASE("classes and what gradients read are those of P3 and P20") {
  using halftone::description::LayerClass;
  struct Row {
    const char* kind;
    std::vector<LayerClass> classes;
    std::vector<std::pair<const char*, const char*>> read;  // and the gradients that read them
    std::vector<const char*> roles;
  };
  const Row rows[] = {
      {"rms_norm",
       {LayerClass::normalization},
       {{"x", "x"}, {"x", "weight"}, {"weight", "x"}, {"weight", "weight"}},
       {"x", "weight"}},
      {"batch_norm",
       {LayerClass::normalization},
       {{"x", "x"},
        {"x", "weight"},
        {"x", "bias"},
        {"weight", "x"},
        {"weight", "weight"},
        {"weight", "bias"}},
       {"x", "weight", "mean", "variance"}},
      {"softmax", {LayerClass::softmax}, {{"x", "x"}}, {"x"}},
      {"embedding", {}, {}, {"token", "weight"}},
      {"dropout", {LayerClass::elementwise}, {}, {"x"}},
      {"rotary", {LayerClass::elementwise}, {}, {"x", "position"}},
      {"position_embedding", {LayerClass::elementwise}, {}, {"x", "weight"}},
      {"sinusoidal_embedding", {LayerClass::elementwise}, {}, {"x", "position"}},
      {"reshape", {LayerClass::elementwise}, {}, {"x"}},
      {"slice", {LayerClass::elementwise}, {}, {"x"}},
      {"pool", {LayerClass::elementwise}, {}, {"x"}},
      {"upsample", {LayerClass::elementwise}, {}, {"x"}},
      {"adaptive_pool", {LayerClass::elementwise}, {}, {"x"}},
      {"pad", {LayerClass::elementwise}, {}, {"x"}},
      {"pixel_shuffle", {LayerClass::elementwise}, {}, {"x"}},
      {"segment_reduce", {LayerClass::elementwise}, {}, {"x", "segment"}},
      {"segment_broadcast", {LayerClass::elementwise}, {}, {"x", "segment"}},
      {"transpose", {LayerClass::elementwise}, {}, {"x"}},
      {"matmul", {LayerClass::contraction}, {{"a", "b"}, {"b", "a"}}, {"a", "b"}},
      {"long_convolution", {}, {{"x", "filter"}, {"filter", "x"}}, {"x", "filter"}},
      {"attention",
       {LayerClass::contraction},
       {{"query", "query"},
        {"query", "key"},
        {"query", "value"},
        {"key", "query"},
        {"key", "key"},
        {"key", "value"},
        {"value", "query"},
        {"value", "key"},
        {"value", "value"}},
       {"query", "key", "value"}},
      {"convolution",
       {LayerClass::contraction},
       {{"x", "weight"}, {"weight", "x"}},
       {"x", "weight", "bias"}},
      {"transposed_convolution",
       {LayerClass::contraction},
       {{"x", "weight"}, {"weight", "x"}},
       {"x", "weight", "bias"}},
      {"causal_conv1d",
       {LayerClass::contraction},
       {{"x", "weight"}, {"weight", "x"}},
       {"x", "weight", "bias"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.kind);
    const bool listed = Layers::visit(row.kind, [&](auto kind) {
      CHECK(std::vector<LayerClass>(kind.classes.begin(), kind.classes.end()) == row.classes);
      CHECK_FALSE(kind.reads_result);
      for (const char* read : row.roles) {
        for (const char* wanted : row.roles) {
          const bool expected = std::ranges::any_of(row.read, [&](const auto& pair) {
            return pair.first == std::string_view(read) && pair.second == std::string_view(wanted);
          });
          CHECK(kind.reads(read, wanted) == expected);
        }
      }
    });
    CHECK(listed);
  }
}

TEST_CASE("rms_norm takes rstd from what forward read and x from what the pass reads") {
  Layer<float> layer = layer_of<float>(rms_norm(1, 4));
  const Values<float> g(4, 1.0f);
  const auto as_read = gradients_of("rms_norm", layer, View<float>(g));
  for (float& value : layer.operands[0].values) value *= 2;
  const auto doubled = gradients_of("rms_norm", layer, View<float>(g));
  for (std::size_t j = 0; j < 4; ++j) CHECK(doubled[1][j] == 2 * as_read[1][j]);
}

TEST_CASE("D59: a training pass moves mean and variance, a predictor's uses them") {
  for (const auto& [rows, n] : {std::pair{300, 7}, std::pair{1, 3}}) {
    const LayerCase training = batch_norm(rows, n);
    const auto moved = moved_by("batch_norm", layer_of<float>(training));
    REQUIRE(moved.size() == 2);
    check_bits(kLayerBits, training.name + " moved mean", moved[0]);
    check_bits(kLayerBits, training.name + " moved variance", moved[1]);
    check_bits(kLayerBits, training.name + " predicted", result<float>(batch_norm(rows, n, false)));
  }
}

TEST_CASE("D59: a column whose averages would not be finite keeps them") {
  LayerCase layer = batch_norm(4, 3);
  layer.operands[0].values[1] = 1e30;  // whose square overflows
  const auto moved = moved_by("batch_norm", layer_of<float>(layer));
  const auto before = layer_of<float>(layer);
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK((moved[0][j] == before["mean"][j]) == (j == 1));
    CHECK((moved[1][j] == before["variance"][j]) == (j == 1));
  }
}

TEST_CASE("a token without a row gives a row of NaN and no gradient") {
  LayerCase layer{"",
                  "embedding",
                  {integers("token", {4}, {1, -1, 2, std::numeric_limits<std::int32_t>::max()}),
                   values("weight", {2, 3}, 2)},
                  {4, 3}};
  const Values<float> y = result<float>(layer);
  for (std::size_t e = 0; e < y.size(); ++e) CHECK(std::isnan(y[e]) == (e >= 3));
  const Values<float> of_weight = gradients<float>(layer)[1];
  const Values<double> g = data(12, 9);
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(of_weight[j] == 0);
    CHECK(of_weight[3 + j] == g[j]);
  }
}

TEST_CASE("the gradient of an embedding adds positions in ascending order, from +0") {
  const LayerCase of{"",
                     "embedding",
                     {integers("token", {5}, {0, 0, 1, 0, 0}), values("weight", {2, 1}, 2)},
                     {5, 1}};
  const Values<float> g{0x1p24f, 1.0f, -0.0f, 1.0f, -0x1p24f};
  const auto all = gradients_of("embedding", layer_of<float>(of), View<float>(g));
  CHECK(all[1][0] == 0.0f);  // 1 is lost each time; any later start keeps one
  CHECK(std::bit_cast<std::uint32_t>(all[1][1]) == 0u);
}

TEST_CASE("a convolution multiplies what lies outside of its sequence by +0") {
  const float infinity = std::numeric_limits<float>::infinity();
  Layer<float> layer = layer_of<float>(
      {"", "causal_conv1d", {values("x", {2, 2, 1}, 1), values("weight", {1, 2}, 2)}, {2, 2, 1}});
  layer.operands[1].values = {infinity, 1};
  const Values<float> y = result_of("causal_conv1d", layer);
  CHECK(std::isnan(y[0]));
  CHECK(std::isinf(y[1]));
  CHECK(std::isnan(y[2]));  // the second sequence starts anew
}

TEST_CASE("N9 gives the known answers of Random123") {
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("dropout drops other elements for every seed, layer, step and micro-batch") {
  const LayerCase layer = dropout(200);
  const Values<float> y = result<float>(layer);
  CHECK(result<float>(layer) == y);
  for (const Draws& other :
       {Draws{true, 1, 0xfedcba9876543211, 5, 2}, Draws{true, 0x0123456789abcdef, 1, 5, 2},
        Draws{true, 0x0123456789abcdef, 0xfedcba9876543211, 6, 2},
        Draws{true, 0x0123456789abcdef, 0xfedcba9876543211, 5, 3}}) {
    LayerCase drawn = layer;
    drawn.draws = other;
    CHECK(result<float>(drawn) != y);
  }
}

TEST_CASE("dropout drops its rate of the elements") {
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    constexpr std::int64_t kElements = 100000;
    LayerCase layer = dropout(kElements, rate);
    layer.operands[0].values.assign(kElements, 1);
    double dropped = 0;
    for (const float value : result<float>(layer)) dropped += value == 0;
    const double deviation = std::sqrt(kElements * rate * (1 - rate));
    CHECK(std::fabs(dropped - kElements * rate) <= 5 * deviation);
  }
}

TEST_CASE("dropout is the identity in inference and drops infinities and NaN") {
  LayerCase layer = dropout(100, 0.5);
  layer.operands[0].values.assign(100, std::numeric_limits<double>::quiet_NaN());
  double dropped = 0;
  for (const float value : result<float>(layer)) dropped += value == 0;
  CHECK(dropped > 0);
  layer = dropout(100, 0.5);
  layer.draws->training = false;
  CHECK(result<double>(layer) == layer.operands[0].values);
  layer.draws.reset();
  CHECK_THROWS_WITH_AS(result<float>(layer),
                       "a layer that draws has no seed; give it the draws of its micro-batch",
                       std::invalid_argument);
}

TEST_CASE("slice takes columns, and its gradient is +0 in the others") {
  LayerCase layer{"slice", "slice", {values("x", {2, 3, 5}, 1)}, {2, 3, 2}};
  layer.settings.numbers = {{"begin", 1}, {"end", 3}};
  const std::vector<double>& x = layer.operands[0].values;
  const std::vector<double> y = result<double>(layer), g = data(12, 9),
                            of_x = gradients<double>(layer)[0];
  REQUIRE(y.size() == 12);
  REQUIRE(of_x.size() == 30);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 5; ++j) {
      const bool taken = j == 1 || j == 2;
      const double gradient = of_x[i * 5 + j];
      if (taken) {
        CHECK(y[i * 2 + j - 1] == x[i * 5 + j]);
        CHECK(gradient == g[i * 2 + j - 1]);
      } else {
        CHECK(gradient == 0);
        CHECK(!std::signbit(gradient));
      }
    }
  }
}

TEST_CASE("reshape and its gradient move nothing") {
  const LayerCase layer = reshape();
  CHECK(result<double>(layer) == layer.operands[0].values);
  CHECK(gradients<double>(layer)[0] == data(24, 9));
}

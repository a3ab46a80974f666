// SPDX-License-Identifier: Apache-2.0
// D64 to D69: layers that speak of positions, against complex numbers, sines of libm, frequencies
// that transformers' code gives, and enumeration.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "angles.hpp"
#include "layer_case.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

constexpr std::int64_t kSequences = 2, kTimes = 5;

LayerCase rotary(std::string name, std::int64_t heads, std::int64_t width, bool interleaved,
                 std::int64_t rotated = 0) {
  const Extents extents{kSequences, kTimes, heads * width};
  LayerCase layer{std::move(name), "rotary", {values("x", extents, 1)}, extents};
  layer.settings.numbers = {
      {"heads", static_cast<double>(heads)}, {"base", 10000.0}, {"factor", 1.0}};
  if (rotated > 0) layer.settings.numbers["rotated"] = static_cast<double>(rotated);
  if (interleaved) layer.settings.flags.insert("interleaved");
  return layer;
}

LayerCase sinusoidal() {
  const Extents extents{kSequences, kTimes, 6};
  LayerCase layer{"sinusoidal", "sinusoidal_embedding", {values("x", extents, 1)}, extents};
  layer.settings.numbers = {{"base", 10000.0}};
  return layer;
}

LayerCase learned(std::int64_t rows) {
  const Extents extents{kSequences, kTimes, 3};
  return {"learned",
          "position_embedding",
          {values("x", extents, 1), values("weight", {rows, 3}, 2)},
          extents};
}

/// Positions of two packed sequences, far ones and one before 0 among them.
LayerCase at_positions(LayerCase layer) {
  layer.name += " at positions";
  layer.operands.push_back(
      integers("position", {kSequences, kTimes}, {0, 1, 2, 0, 1, 7, -3, 1000, 40000, 2}));
  return layer;
}

LayerCase scaled(LayerCase layer) {
  layer.name += " as in Llama 3.1";
  layer.settings.numbers["factor"] = 8;
  layer.settings.numbers["low_factor"] = 1;
  layer.settings.numbers["high_factor"] = 4;
  layer.settings.numbers["original_length"] = 64;
  return layer;
}

std::vector<LayerCase> rotary_layers() {
  return {rotary("halves", 3, 4, false),
          rotary("neighbours", 3, 4, true),
          rotary("a part of halves", 2, 7, false, 4),
          rotary("a part of neighbours", 2, 7, true, 6),
          at_positions(rotary("halves", 1, 8, false)),
          at_positions(rotary("neighbours", 2, 8, true, 2)),
          at_positions(scaled(rotary("halves", 1, 16, false)))};
}

double time_in(const LayerCase& layer, std::int64_t row) {
  for (const auto& operand : layer.operands)
    if (operand.role == "position") return operand.integers[static_cast<std::size_t>(row)];
  return static_cast<double>(row % kTimes);
}

/// transformers, modeling_rope_utils.py, _compute_llama3_parameters
double llama3(double f, const std::map<std::string, double>& numbers) {
  const double factor = numbers.at("factor");
  if (!numbers.contains("low_factor")) return f / factor;
  const double low = numbers.at("low_factor"), high = numbers.at("high_factor"),
               length = numbers.at("original_length");
  const double wavelength = 2 * std::numbers::pi / f;
  if (wavelength > length / low) return f / factor;
  if (wavelength < length / high) return f;
  const double smooth = (length / wavelength - low) / (high - low);
  return (1 - smooth) * f / factor + smooth * f;
}

/// (x1 + i x2) * exp(i t f) for every pair.
Values<double> turned(const LayerCase& layer) {
  const auto& numbers = layer.settings.numbers;
  const std::int64_t n = layer.extents.back(), heads = static_cast<int>(numbers.at("heads")),
                     width = n / heads;
  const std::int64_t r =
      numbers.contains("rotated") ? static_cast<int>(numbers.at("rotated")) : width;
  const bool interleaved = layer.settings.flags.contains("interleaved");
  Values<double> y = layer.operands[0].values;
  for (std::int64_t row = 0; row < kSequences * kTimes; ++row)
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t i = 0; i < r / 2; ++i) {
        const double power = -2.0 * static_cast<double>(i) / static_cast<double>(r);
        const double angle =
            time_in(layer, row) * llama3(std::pow(numbers.at("base"), power), numbers);
        double& first = y[row * n + head * width + (interleaved ? 2 * i : i)];
        double& second = interleaved ? *(&first + 1) : *(&first + r / 2);
        const auto z = std::complex(first, second) * std::polar(1.0, angle);
        first = z.real(), second = z.imag();
      }
  return y;
}

void check_near(const Values<double>& found, const Values<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t e = 0; e < found.size(); ++e) {
    CAPTURE(e);
    CHECK(std::abs(found[e] - expected[e]) <= 1e-10);
  }
}

}  // namespace

TEST_CASE("D64: rotary multiplies pairs by complex numbers of length 1") {
  for (const LayerCase& layer : rotary_layers()) {
    CAPTURE(layer.name);
    check_near(result<double>(layer), turned(layer));
  }
}

TEST_CASE("D64: frequencies are those of Llama 3.1") {
  // By the formula of transformers, in double: head_dim 128, rope_theta 500000, factor 8, 1, 4,
  // 8192
  const std::pair<int, double> expected[] = {{0, 1.0},
                                             {1, 0.8146172338565447},
                                             {20, 0.016560440080994446},
                                             {28, 0.0032114459947525913},
                                             {29, 0.002166570763503359},
                                             {34, 0.00017850781276799638},
                                             {35, 9.556212353964683e-05},
                                             {36, 7.78465527393245e-05},
                                             {63, 3.068925988914511e-07}};
  Settings settings;
  settings.numbers = {
      {"factor", 8}, {"low_factor", 1}, {"high_factor", 4}, {"original_length", 8192}};
  for (const auto& [i, f] : expected) {
    CAPTURE(i);
    const double exact = stretched(frequency<double>(i, 128, 500000), settings);
    CHECK(std::abs(exact - f) <= 1e-13 * f);
    const float declared = stretched(frequency<float>(i, 128, 500000), settings);
    CHECK(std::abs(declared - f) <= 8 * 0x1p-24 * f);
  }
}

TEST_CASE("D64: frequencies are powers of the base but for two ulp") {
  for (const std::int64_t width : {2, 64, 80, 96, 128, 256, 4096})
    for (const double base : {100.0, 10000.0, 500000.0, 1e6, 0.5}) {
      CAPTURE(width);
      CAPTURE(base);
      double largest = 0;
      for (std::int64_t i = 0; i < width / 2; ++i) {
        const double f = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        largest = std::max(largest, std::abs(frequency<float>(i, width, base) - f) / f);
      }
      CHECK(largest <= 2 * 0x1p-23);
    }
}

TEST_CASE("D64: how far two positions are apart decides their product") {
  LayerCase query = rotary("query", 1, 8, false), key = query;
  key.operands[0] = values("x", key.extents, 3);
  const auto product = [&](std::int32_t t, std::int32_t u) {
    LayerCase q = query, k = key;
    q.operands.push_back(integers("position", {kSequences, kTimes}, Integers(10, t)));
    k.operands.push_back(integers("position", {kSequences, kTimes}, Integers(10, u)));
    const Values<double> a = result<double>(q), b = result<double>(k);
    double sum = 0;
    for (std::size_t j = 0; j < 8; ++j) sum += a[j] * b[j];
    return sum;
  };
  CHECK(product(9, 4) == doctest::Approx(product(105, 100)).epsilon(1e-12));
  CHECK(product(9, 4) != doctest::Approx(product(9, 5)).epsilon(1e-3));
}

TEST_CASE("D67: the gradient of rotary turns back") {
  for (LayerCase layer : rotary_layers()) {
    CAPTURE(layer.name);
    const Values<double> y = result<double>(layer), x = layer.operands[0].values;
    const auto back = gradients_of("rotary", layer_of<double>(layer), View<double>(y));
    check_near(back[0], x);
    CHECK((back.size() == 1 || back[1].empty()));
  }
}

TEST_CASE("D66, D69: sines at even columns, cosines at odd ones") {
  for (const LayerCase& layer : {sinusoidal(), at_positions(sinusoidal())}) {
    CAPTURE(layer.name);
    Values<double> expected = layer.operands[0].values;
    for (std::size_t e = 0; e < expected.size(); ++e) {
      const double t = time_in(layer, static_cast<std::int64_t>(e / 6));
      const double angle = t / std::pow(10000.0, static_cast<double>(e % 6 / 2 * 2) / 6);
      expected[e] += e % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
    check_near(result<double>(layer), expected);
    const auto all = gradients<double>(layer);
    CHECK(all[0] == data(count(layer.extents), 9));
  }
}

TEST_CASE("D65, D68: every time has its row, whose gradient goes over the sequences") {
  const LayerCase layer = learned(7);
  const Values<float> x = as<float>(layer.operands[0].values),
                      weight = as<float>(layer.operands[1].values),
                      g = as<float>(data(count(layer.extents), 9));
  Values<float> y(x.size()), of_weight(21, 0.0f);
  for (std::size_t e = 0; e < x.size(); ++e) y[e] = x[e] + weight[e % 15];
  for (std::size_t e = 0; e < 15; ++e) of_weight[e] = 0.0f + g[e] + g[e + 15];
  CHECK(result<float>(layer) == y);
  const auto all = gradients<float>(layer);
  CHECK(all[0] == g);
  CHECK(all[1] == of_weight);  // two rows are of no time
}

TEST_CASE("D65: a time without a row gives NaN, and its gradient goes nowhere") {
  const LayerCase layer = learned(3);
  const Values<float> y = result<float>(layer);
  for (std::size_t e = 0; e < y.size(); ++e) CHECK(std::isnan(y[e]) == (e / 3 % kTimes >= 3));
  const Values<float> g = as<float>(data(count(layer.extents), 9));
  const auto all = gradients<float>(layer);
  CHECK(all[1][8] == 0.0f + g[8] + g[23]);
}

TEST_CASE("declared positions stay within the bound of exact ones") {
  std::vector<LayerCase> layers = rotary_layers();
  layers.insert(layers.end(), {sinusoidal(), at_positions(sinusoidal()), learned(5)});
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

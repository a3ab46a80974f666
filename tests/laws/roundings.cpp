// SPDX-License-Identifier: Apache-2.0
// What inspect() shows of a rounding that finds scales or draws before it ends (P51, F6): what was
// rounded, beside the numbers that the reference's own rounding makes of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "artifacts.hpp"
#include "halftone/encoding/text.hpp"
#include "halftone/reference/rounding.hpp"
#include "halftone/value_statistics.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

using encoding::Element, encoding::Encoding, encoding::Rounding, encoding::Scaling;

Encoding encoding_of(std::string_view format) {
  const auto parsed = encoding::parse(format);
  REQUIRE(std::holds_alternative<Encoding>(parsed));
  return std::get<Encoding>(parsed);
}

/// act(value, what it was rounded to) for every value of the last step that was rounded.
template <class Act>
void inspect_rounded(const Trainer& trainer, const Act& act) {
  trainer.inspect([&](const InspectedValue& value) {
    if (value.before.empty()) return;
    CAPTURE(std::string(value.layer));
    CAPTURE(std::string(value.role));
    CAPTURE(std::string(value.format));
    act(value, encoding_of(value.format));
  });
}

/// Of a tensor under one scale of its own, or under none.
std::vector<float> rounded(const Encoding& to, std::span<const float> values) {
  const reference::RoundTo round_to{to.element, to.rounding, to.saturate, to.scaling};
  const bool is_scaled = to.scaling.kind != Scaling::Kind::none;
  const float scale = is_scaled ? reference::scale_of(round_to, values) : 1.0f;
  std::vector<float> all;
  for (const float value : values) all.push_back(reference::round(round_to, value / scale) * scale);
  return all;
}

}  // namespace

TEST_CASE("inspect() shows what scaled and stochastic roundings rounded") {
  std::map<std::string, int> compared, changed;
  for (const float factor : {1.0f, 0x1p-20f}) {
    CAPTURE(factor);
    Pair pair = make_pair(find_artifact("scaled"), tested_variant, 5);
    pair.draw();
    for (auto& [name, values] : pair.inputs.values)
      for (float& value : values) value *= factor;
    pair.trainer.step(pair.named_inputs());
    inspect_rounded(pair.trainer, [&](const InspectedValue& value, const Encoding& to) {
      const bool is_scaled = to.scaling.kind == Scaling::Kind::tensor;
      const bool is_drawn = to.rounding == Rounding::stochastic;
      const std::string kind = is_drawn ? "drawn" : is_scaled ? "scaled" : "plain";
      ++compared[kind];
      changed[kind] += first_difference(value.before, value.values) != -1;
      if (!is_drawn) {
        CHECK(first_difference(value.values, rounded(to, value.before)) == -1);
        return;
      }
      // One of both neighbours: a draw is a rounding of either half.
      Encoding down = to;
      down.rounding = Rounding::toward_zero;
      const std::vector<float> below = rounded(down, value.before);
      const double unit = std::ldexp(1.0, -encoding::traits(to.element).mantissa_bits);
      const double least = std::abs(*std::ranges::max_element(
                               below, {}, [](float each) { return std::abs(each); })) *
                           0x1p-15;
      for (std::size_t i = 0; i < below.size(); ++i) {
        const double magnitude = std::abs(below[i]), found = std::abs(value.values[i]);
        const bool is_neighbour =
            found >= magnitude && found <= std::max(magnitude * (1 + unit), magnitude + least);
        CHECK(is_neighbour);
      }
    });
  }
  for (const char* kind : {"plain", "scaled", "drawn"}) {
    CAPTURE(std::string(kind));
    CHECK(compared[kind] > 1);
    CHECK(changed[kind] > 1);
  }
}

namespace {

/// One of the two neighbours of `before`: `down`, or the number behind it.
bool is_neighbour(const Encoding& element, float before, float found) {
  Encoding cut = element;
  cut.rounding = Rounding::toward_zero;
  const float down = rounded(cut, std::array{before})[0];
  if (found == down) return true;
  const encoding::ElementTraits& traits = encoding::traits(element.element);
  const int exponent = down == 0 ? -1000 : std::ilogb(down);
  const int place = std::max(exponent, encoding::least_normal(traits)) - traits.mantissa_bits;
  return std::abs(found) == std::abs(down) + std::ldexp(1.0f, place) &&
         std::signbit(found) == std::signbit(before);
}

}  // namespace

// What lies there are elements, and not codes times their blocks' scales.
TEST_CASE("of fewer than 8 bits under f32 inspect() shows elements and what they were (P94, P97)") {
  Pair pair = make_pair(find_artifact("factors"), tested_variant, 5);
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  const auto master = pair.trainer.parameter("fc.weight");
  const std::vector<float> weights(master.begin(), master.end());
  std::map<std::string, int> compared;
  inspect_rounded(pair.trainer, [&](const InspectedValue& value, const Encoding& to) {
    if (encoding::traits(to.element).bits >= 8) return;
    CHECK(encoding::factors_sums(to));
    ++compared[std::string(value.format)];
    Encoding element(to.element, to.rounding);
    element.saturate = true;
    CHECK(first_difference(value.before, value.values) != -1);
    CHECK(statistics_of(value).error > 0.01);  // 2 binary digits
    if (to.rounding != Rounding::stochastic) {
      CHECK(first_difference(value.values, rounded(element, value.before)) == -1);
    } else {
      for (std::size_t i = 0; i < value.values.size(); ++i)
        CHECK(is_neighbour(element, value.before[i], value.values[i]));
    }
    if (to.scaling.kind != Scaling::Kind::tensor) return;
    const reference::RoundTo round_to{to.element, to.rounding, to.saturate, to.scaling};
    const float multiplier = reference::multiplier_of(round_to, weights);
    std::vector<float> multiplied;
    for (const float weight : weights) multiplied.push_back(weight * multiplier);
    CHECK(first_difference(value.before, multiplied) == -1);
  });
  // As the model's rules have them, the scale of the tensor in f32 included; the last is read by
  // the backward pass alone.
  for (const char* format :
       {"f4e2m1 scaled tensor f32 saturate", "f4e2m1 scaled block 4 f8e4m3 under f32 saturate",
        "f4e2m1 scaled block 3 f8e4m3 under f32 stochastic saturate",
        "f4e2m1 scaled block 16 by 3 f8e4m3 under f32 saturate",
        "f4e2m1 scaled block 8 f8e4m3 under f32 toward_zero saturate",
        "f4e2m1 scaled block 4 by 1 f8e4m3 under f32 stochastic saturate"}) {
    CAPTURE(std::string(format));
    CHECK(compared[format] >= 1);
  }
  CHECK(compared.size() == 6);
}

TEST_CASE("in blocks under f32 inspect() shows numbers, and operands as what was rounded (P101)") {
  Pair pair = make_pair(find_artifact("scaled_tiles"), tested_variant, 5);
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  std::map<Element, int> compared;
  inspect_rounded(pair.trainer, [&](const InspectedValue& value, const Encoding& to) {
    if (to.scaling.scale != Element::f32 || to.scaling.kind != Scaling::Kind::block) return;
    CHECK(statistics_of(value).error < (encoding::traits(to.element).bits < 8 ? 0.3 : 0.1));
    // What is saved in such a format the backward pass alone reads (kept_codes.cpp).
    if (to.scaling.rows > 1 || to.rounding == Rounding::stochastic || value.role == "saved") return;
    ++compared[to.element];
    reference::RoundTo round_to{to.element, to.rounding, to.saturate, to.scaling};
    std::vector<float> expected;
    const auto columns = static_cast<std::size_t>(value.shape.back());
    for (std::size_t row = 0; row < value.before.size(); row += columns)
      for (std::size_t at = 0; at < columns; at += to.scaling.size) {
        const auto in_block = std::min<std::size_t>(to.scaling.size, columns - at);
        const std::span<const float> block = value.before.subspan(row + at, in_block);
        const float multiplier = reference::multiplier_of(round_to, block);
        for (const float x : block)
          expected.push_back(reference::round(round_to, x * multiplier) * (1 / multiplier));
      }
    CHECK(first_difference(value.values, expected) == -1);
  });
  CHECK(compared[Element::f8e4m3] >= 4);
  CHECK(compared[Element::f8e5m2] >= 2);
  CHECK(compared[Element::f4e2m1] >= 2);
}

TEST_CASE(
    "of a rotated operand inspect() shows what the rotation left as what was rounded (P105)") {
  Pair pair = make_pair(find_artifact("rotated"), tested_variant, 37);
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  std::map<Element, int> compared;
  inspect_rounded(pair.trainer, [&](const InspectedValue& value, const Encoding& to) {
    if (!to.scaling.rotated) return;
    ++compared[to.element];
    // Beside what was not rotated yet errors would be about the numbers themselves.
    const bool is_drawn = to.rounding == Rounding::stochastic;
    CHECK(statistics_of(value).error <
          (to.element == Element::f4e2m1 ? is_drawn ? 0.3 : 0.2 : 0.1));
    if (encoding::factors_sums(to)) return;
    for (const float before : value.before)
      CHECK(first_difference(std::vector{before}, rounded(Element::bf16, std::array{before})) ==
            -1);
  });
  CHECK(compared[Element::f4e2m1] >= 6);
  CHECK(compared[Element::f8e4m3] == 2);
  CHECK(compared[Element::f8e5m2] == 1);
}

TEST_CASE(
    "under delayed scales what outgrew them is counted as saturated, and small numbers as lost") {
  Pair pair = make_pair(find_artifact("delayed"), tested_variant, 5);
  const auto sample_of = [&](float factor) {
    pair.draw();
    for (auto& [name, values] : pair.inputs.values)
      for (float& value : values) value *= factor;
    pair.trainer.step(pair.named_inputs());
    ValueStatistics all;
    for (const ValueStatistics& value : sample_values(pair.trainer).values) {
      if (value.format.find("delayed") == std::string::npos) continue;
      all.elements += value.elements;
      all.saturated += value.saturated;
      all.flushed += value.flushed;
    }
    return all;
  };
  for (int step = 0; step < 3; ++step) (void)sample_of(1.0f);
  const ValueStatistics steady = sample_of(1.0f), grown = sample_of(64.0f);
  CHECK(steady.elements > 1000);
  CHECK(grown.elements == steady.elements);
  // A sample after the update reads the scales that the step itself read.
  CHECK(grown.saturated > grown.elements / 20);
  CHECK(grown.saturated > 4 * steady.saturated);
  for (int step = 0; step < 4; ++step) (void)sample_of(64.0f);
  const ValueStatistics shrunk = sample_of(0x1p-12f);
  CHECK(shrunk.flushed > shrunk.elements / 20);
  CHECK(shrunk.saturated < grown.saturated / 4);
}

}  // namespace halftone::tests

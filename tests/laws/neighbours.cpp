// SPDX-License-Identifier: Apache-2.0
// F6 by generated code: whatever bits an element drops, which neighbour it becomes is what integers
// of 128 bits say; means are those of what was rounded; and gradients that the nearest loses train.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "artifacts.hpp"
#include "drawing.hpp"
#include "halftone/description/text.hpp"
#include "pair.hpp"
#include "stochastic_oracle.hpp"
#include "tested_variant.hpp"
#include "xxh3.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kColumns = 4096;

/// An output of neighbours.halftone: its rounding point (P48) and its format.
struct Format {
  const char* output;
  const char* point;
  Neighbours neighbours;
};

constexpr Format kFormats[] = {
    {"bf16", "bf16 bf16 stochastic", kInBf16},
    {"f16", "f16 f16 stochastic", kInF16},
    {"f16s", "f16s f16 stochastic saturate", kInF16Saturating},
    {"tf32", "x tf32 stochastic", kInTf32},
    {"f8e4m3", "f8e4m3 f8e4m3 stochastic", kInF8e4m3},
    {"f8e4m3s", "f8e4m3s f8e4m3 stochastic saturate", kInF8e4m3Saturating},
    {"f8e5m2", "f8e5m2 f8e5m2 stochastic", kInF8e5m2},
    {"f8e5m2s", "f8e5m2s f8e5m2 stochastic saturate", kInF8e5m2Saturating},
};

struct Model {
  explicit Model(std::int64_t rows)
      : artifact(Artifact::linked(*find("neighbours").image)),
        bindings{Binding{"batch", rows}},
        trainer(artifact, Device::cpu(tested_variant),
                {.model = "", .bindings = bindings, .seed = kSeed}),
        zero(static_cast<std::size_t>(rows * kColumns), -0.0f) {}

  static const LinkedArtifact& find(std::string_view name) {
    return *std::ranges::find(kSmallArtifacts, name, [](const LinkedArtifact& each) {
      return std::string_view(each.name);
    });
  }

  void forward(const std::vector<float>& x) {
    trainer.forward(std::array{NamedValues{"x", std::span(x)},
                               NamedValues{"zero", std::span(std::as_const(zero))}});
  }

  static std::uint32_t word(const Format& format, std::size_t e) {
    return reference::draw({.training = true,
                            .seed = kSeed,
                            .layer = reference::xxh3(format.point),
                            .step = 0,
                            .micro_batch = 0},
                           e);
  }

  static constexpr std::uint64_t kSeed = 11;
  Artifact artifact;
  std::array<Binding, 1> bindings;
  Trainer trainer;
  std::vector<float> zero;
};

}  // namespace

TEST_CASE("of all patterns of dropped bits, on many exponents, the neighbour is as integers say") {
  // Exponents of f32: its subnormals, those of each format, its largest number's and beyond.
  const std::uint32_t fields[] = {0,   1,   2,   77,  90,  101, 103, 105, 110, 111, 112, 113,
                                  117, 118, 120, 121, 127, 134, 135, 136, 142, 143, 254, 255};
  constexpr std::size_t kPatterns = 1 << 16;
  std::vector<float> x;
  std::uint32_t others = 1;  // the sign and the upper seven bits of the mantissa
  for (const std::uint32_t field : fields)
    for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
      others = others * 1664525u + 1013904223u;
      const std::uint32_t high = others >> 25, sign = others & 0x800000u;
      x.push_back(std::bit_cast<float>(sign << 8 | field << 23 | high << 16 | pattern));
    }
  x.back() = INFINITY;
  x[x.size() - 2] = -INFINITY;
  Model model(static_cast<std::int64_t>(x.size()) / kColumns);
  model.forward(x);
  for (const Format& format : kFormats) {
    CAPTURE(std::string(format.output));
    const auto got = model.trainer.output(format.output);
    REQUIRE(got.size() == x.size());
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      const float expected = format.neighbours.choose(Model::word(format, e), x[e]);
      if (bits(got[e]) == bits(expected) || wrong++ > 3) continue;
      CAPTURE(x[e]);
      CHECK(bits(got[e]) == bits(expected));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the mean of 2^20 roundings of one number lies within five deviations of it") {
  // One case of 1.7 million is outside; seed and points are fixed, and so is the outcome.
  constexpr std::int64_t kRows = 256, kCount = kRows * kColumns;
  Model model(kRows);
  for (const float x : {0.7f, -1.0009f, 3.14159f, -0x1.2345p-17f, 0x1.8p-26f, 300.1f}) {
    CAPTURE(x);
    model.forward(std::vector<float>(kCount, x));
    for (const Format& format : kFormats) {
      CAPTURE(std::string(format.output));
      double sum = 0;
      for (const float value : model.trainer.output(format.output)) sum += value;
      const double share = format.neighbours.share(x);
      const double deviation = format.neighbours.place(x) * std::sqrt(share * (1 - share) / kCount);
      CHECK(std::fabs(sum / kCount - static_cast<double>(x)) <= 5 * deviation);
    }
  }
}

TEST_CASE("a number that the format has stays as it is, whatever is drawn") {
  Model model(1);
  const std::vector<float> x(kColumns, -1.25f);
  model.forward(x);
  for (const Format& format : kFormats) {
    CAPTURE(std::string(format.output));
    CHECK(first_difference(model.trainer.output(format.output), x) == -1);
  }
}

TEST_CASE("gradients that f16 has as 0 to the nearest train when they are rounded stochastically") {
  const auto loss_after = [](const char* name, int steps, bool& moved) {
    const Artifact artifact = Artifact::linked(*Model::find(name).image);
    const std::array bindings = {Binding{"batch", 64}};
    Trainer trainer(artifact, Device::cpu(tested_variant),
                    {.model = "", .bindings = bindings, .seed = 3});
    const std::vector<float> x(64, 1.0f), target(64 * 16, 0.0f);
    for (int step = 0; step < steps; ++step) {
      trainer.step(
          std::array{NamedValues{"x", std::span(x)}, NamedValues{"target", std::span(target)}});
    }
    moved = std::ranges::any_of(trainer.parameter("weight"), [](float w) { return w != 1.0f; });
    return trainer.loss("loss");
  };
  bool moved = false;
  CHECK(loss_after("vanishing", 60, moved) == 1.0f);
  CHECK_FALSE(moved);
  CHECK(loss_after("vanishing_stochastic", 60, moved) < 0.01f);
  CHECK(moved);
}

}  // namespace halftone::tests

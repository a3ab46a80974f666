// SPDX-License-Identifier: Apache-2.0
// When right operands of contractions are packed before their tasks, by whom, and in which memory:
// of a model whose product writes down how it was called.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "changed_artifact.hpp"
#include "generated_example.hpp"
#include "message_of.hpp"

using halftone::Device, halftone::Packed;
using models::line::Predictor;
using models::line::Trainer;

namespace {

constexpr std::int64_t kRows = 5;

/// The line, whose product is cut as contractions are: the weight is rhs.
const ChangedArtifact& line_of_contractions() {
  static const ChangedArtifact changed([](auto& manifest) {
    auto& kernel = manifest.kernels[0];
    kernel.tasks.push_back({{{hand_made::kTargets, -1}}, 1});
    kernel.blocking = {{{6, 16, 8}, {1, 4, 1}},
                       {{hand_made::kFeatures, -1}},
                       /*stride=*/48,
                       /*transposes=*/true,
                       /*rhs=*/1};
  });
  return changed;
}

Device cpu(Packed packed) { return Device::cpu("x86-64").with_threads(1).with_packed(packed); }

const std::vector<float> kFeatures(kRows*hand_made::kFeatures, 1.0f),
    kTarget(kRows*hand_made::kTargets, 0.5f);

/// How often the product packed its rhs and how often it ran its tasks, while `action` ran.
template <class Action>
std::array<std::int64_t, 2> calls_of(const Action& action) {
  hand_made::start_recording();
  action();
  const auto calls = hand_made::stop_recording();
  const auto count = [&](const char* kernel) {
    return std::ranges::count(calls, kernel, &hand_made::Call::kernel);
  };
  return {count("forward.packing"), count("forward")};
}

using Counts = std::array<std::int64_t, 2>;

}  // namespace

TEST_CASE("a predictor packs a weight when it first reads it, and when it has other values") {
  // One row of f32 reads packed panels where it has the choice.
  for (const auto& [packed, rows] :
       {std::pair{Packed::automatic, std::int64_t{1}}, {Packed::always, kRows}}) {
    CAPTURE(rows);
    Predictor predictor(line_of_contractions().artifact(), cpu(packed), {.batch = rows});
    const auto predict = [&, of = std::span(kFeatures).first(3 * static_cast<std::size_t>(rows))] {
      predictor.predict(of);
    };
    CHECK(calls_of(predict) == Counts{1, 1});
    CHECK(calls_of(predict) == Counts{0, 1});
    // Fewer rows read the same panels.
    CHECK(calls_of([&] { predictor.predict(std::span(kFeatures).first(3)); }) == Counts{0, 1});
    predictor.set_parameter("fc.weight", std::vector<float>(6, 2.0f));
    CHECK(calls_of(predict) == Counts{1, 1});
    const Trainer trainer(line_of_contractions().artifact(), cpu(packed), {.batch = kRows});
    predictor.copy_parameters(trainer);
    CHECK(calls_of(predict) == Counts{1, 1});
    CHECK(calls_of(predict) == Counts{0, 1});
  }
}

TEST_CASE("a trainer packs for every launch, and only where several tasks read a panel") {
  const auto step = [](Packed packed) {
    Trainer trainer(line_of_contractions().artifact(), cpu(packed), {.batch = kRows});
    return calls_of([&] {
      trainer.step(kFeatures, kTarget);
      trainer.step(kFeatures, kTarget);
    });
  };
  CHECK(step(Packed::automatic) == Counts{0, 2});
  CHECK(step(Packed::always) == Counts{2, 2});
  CHECK(step(Packed::never) == Counts{0, 2});
}

TEST_CASE("nothing is packed where it shall not be, nor several rows' f32 where that is no gain") {
  for (const auto& [packed, rows] :
       {std::pair{Packed::never, std::int64_t{1}}, {Packed::automatic, std::int64_t{2}}}) {
    Predictor predictor(line_of_contractions().artifact(), cpu(packed), {.batch = rows});
    const auto of = std::span(kFeatures).first(3 * static_cast<std::size_t>(rows));
    CHECK(calls_of([&] { predictor.predict(of); }) == Counts{0, 1});
  }
}

TEST_CASE("packed panels take memory as it was planned") {
  // Two columns are a panel of four; 4 * 3 floats in whole lines.
  constexpr std::int64_t kPanels = 64;
  const auto bytes = [](const auto& made) {
    CHECK(made.peak_bytes_predicted() == made.peak_bytes_measured());
    return made.peak_bytes_measured();
  };
  const auto of_predictor = [&](Packed packed) {
    return bytes(Predictor(line_of_contractions().artifact(), cpu(packed), {.batch = 1}));
  };
  CHECK(of_predictor(Packed::automatic) == of_predictor(Packed::never) + kPanels);
  CHECK(of_predictor(Packed::always) == of_predictor(Packed::never) + kPanels);
  const auto of_trainer = [](Packed packed) {
    const Trainer trainer(line_of_contractions().artifact(), cpu(packed), {.batch = kRows});
    CHECK(trainer.stats().peak_bytes_predicted == trainer.stats().peak_bytes_measured);
    return trainer.stats().peak_bytes_measured;
  };
  CHECK(of_trainer(Packed::automatic) == of_trainer(Packed::never));
  CHECK(of_trainer(Packed::always) == of_trainer(Packed::never) + kPanels);
}

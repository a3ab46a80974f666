// SPDX-License-Identifier: Apache-2.0
// States that layers keep go where parameters go: into predictors, other trainers and files.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "../files/scratch_folder.hpp"
#include "halftone/checkpoint.hpp"
#include "halftone/predictor.hpp"
#include "halftone/trainer.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_batch_norm;

namespace {

constexpr std::int64_t kBatch = 20;
constexpr const char* kKept[] = {"norm1.mean", "norm1.variance", "norm2.mean", "norm2.variance"};

template <class Program>
Program make(std::uint64_t seed, std::int64_t batch = kBatch) {
  const std::array bindings = {halftone::Binding{"batch", batch}};
  return {halftone::Artifact::linked(halftone_artifact_batch_norm),
          halftone::Device::cpu(),
          {.model = "", .bindings = bindings, .seed = seed}};
}

halftone::Trainer trained() {
  auto trainer = make<halftone::Trainer>(1);
  std::mt19937 random(1);
  std::vector<float> x(7 * kBatch);
  std::vector<std::int32_t> labels(kBatch);
  for (int step = 0; step < 3; ++step) {
    for (float& value : x) value = 3.0f + static_cast<float>(random() % 1000) / 500.0f;
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % 5);
    trainer.step(std::array{halftone::NamedValues{"x", std::span<const float>(x)},
                            halftone::NamedValues{"label", std::span<const std::int32_t>(labels)}});
  }
  REQUIRE(trainer.updated());
  return trainer;
}

/// The states of one, which have moved, are the other's.
void check_taken(const halftone::Trainer& from, const auto& by) {
  for (const std::string name : kKept) {
    CAPTURE(name);
    const auto moved = from.state(name), taken = by.state(name);
    CHECK(std::ranges::equal(moved, taken));
    CHECK(moved[0] != (name.ends_with("mean") ? 0.0f : 1.0f));
  }
}

}  // namespace

TEST_CASE("kept states are copied with parameters") {
  const halftone::Trainer trainer = trained();
  auto predictor = make<halftone::Predictor>(7, 3);
  predictor.copy_parameters(trainer);
  check_taken(trainer, predictor);
  auto other = make<halftone::Trainer>(7, 3);
  other.copy_parameters(trainer);
  check_taken(trainer, other);
  auto second = make<halftone::Predictor>(8);
  second.copy_parameters(predictor);
  check_taken(trainer, second);
}

TEST_CASE("reset_states leaves kept states") {
  halftone::Trainer trainer = trained();
  auto predictor = make<halftone::Predictor>(7);
  predictor.copy_parameters(trainer);
  predictor.reset_states();
  trainer.reset_states();
  check_taken(trainer, predictor);
}

TEST_CASE("kept states are in files of weights, and read from checkpoints") {
  const halftone::tests::ScratchFolder folder;
  halftone::Trainer trainer = trained();
  trainer.save_weights(folder / "weights.safetensors");
  trainer.save(folder / "run.safetensors");
  for (const char* file : {"weights.safetensors", "run.safetensors"}) {
    CAPTURE(std::string(file));
    auto predictor = make<halftone::Predictor>(7);
    const halftone::LoadedWeights loaded = predictor.load_weights(folder / file);
    CHECK(loaded.kept.empty());
    CHECK(loaded.left_out.empty());
    check_taken(trainer, predictor);
  }
  // Maps of names hold for them as for parameters.
  auto predictor = make<halftone::Predictor>(7);
  const auto loaded = predictor.load_weights(
      folder / "weights.safetensors",
      {.names = {{"norm1.mean", "norm1.bias"}, {"norm1.bias", "norm1.mean"}}});
  CHECK(std::ranges::equal(predictor.parameter("norm1.bias"), trainer.state("norm1.mean")));
  CHECK(std::ranges::equal(predictor.state("norm1.mean"), trainer.parameter("norm1.bias")));
}

// SPDX-License-Identifier: Apache-2.0
// Trainer::enter on a driver: what is called, that nothing is allocated, and that what persists
// stays where it is. Its numbers are held to a trainer of the artifact without stages, whose
// kernels are the same.
#include "halftone/stages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "files/scratch_folder.hpp"
#include "halftone/error.hpp"
#include "message_of.hpp"
#include "staged_artifact.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Predictor, models::line::Trainer;
using Calls = std::vector<std::string>;

namespace {

const std::vector<std::string> kVisits = {"predict", "correct", "warmup", "predict",
                                          "predict", "warmup",  "predict"};

Trainer trainer_of(const halftone::Artifact& artifact, const halftone::Device& device) {
  Trainer trainer(artifact, device, {.batch = 2, .seed = 1});
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
  return trainer;
}

Floats parameters_of(const halftone::Trainer& trainer) {
  Floats values = copy(trainer.parameter("fc.weight"));
  for (float bias : trainer.parameter("fc.bias")) values.push_back(bias);
  return values;
}

/// Holds masters in two halves (P69).
void split_masters(halftone::manifest::Manifest& manifest) {
  using halftone::manifest::Element, halftone::manifest::Role;
  for (auto& program : manifest.programs) {
    for (auto& buffer : program.buffers)
      if (buffer.role == Role::parameters) buffer.encoding = Element::bf16;
    const auto index = static_cast<std::int32_t>(program.buffers.size());
    const auto slot = static_cast<std::int32_t>(program.slots.size());
    program.buffers.push_back({"remainders",
                               Role::remainders,
                               Element::i16,
                               {{hand_made::kParameterElements, -1}},
                               slot,
                               0.0});
    program.slots.push_back({{index}});
  }
}

std::ptrdiff_t count(const Calls& calls, const std::string& begin) {
  return std::ranges::count_if(calls, [&](auto& call) { return call.starts_with(begin); });
}

}  // namespace

TEST_CASE("a stage is entered without an allocation, and costs a wait and zeros of workspaces") {
  const StagedArtifact staged = hand_made::three_stages();
  const auto log = std::make_shared<fake::Log>();
  {
    Trainer trainer = trainer_of(staged.artifact(), fake::device(log));
    trainer.step(kFeatures, kTarget);
    const std::int64_t held = log->held_bytes;
    CHECK(trainer.stats().peak_bytes_measured == trainer.stats().peak_bytes_predicted);
    trainer.wait();
    log->calls.clear();
    trainer.enter("predict");
    // The steps on their way, the workspace, and how often the stage's loss scale was at its floor.
    REQUIRE(log->calls.size() == 4);
    CHECK(log->calls[1].starts_with("fill "));
    log->calls.erase(log->calls.begin() + 1);
    CHECK(log->calls == Calls{"synchronise", "copy_out 4", "synchronise"});
    for (const std::string& stage : kVisits) {
      trainer.enter(stage);
      trainer.step(kFeatures, kTarget);
      trainer.accumulate(kFeatures, kTarget);
      trainer.step(kFeatures, kTarget);
    }
    // The sum over micro-batches alone, once, for all stages.
    CHECK(count(log->calls, "allocate") == 1);
    CHECK(count(log->calls, "allocate accumulated") == 1);
    const std::int64_t sums = 4 * hand_made::kParameterElements;
    CHECK(log->held_bytes == held + sums);
    CHECK(trainer.stats().peak_bytes_measured == held + sums);
    log->calls.clear();
    trainer.enter("predict");  // where it is
    CHECK(log->calls.empty());
  }
  CHECK(log->is_clean());
}

TEST_CASE("the arena is as large as the largest stage needs, and no larger") {
  const StagedArtifact staged = hand_made::three_stages();
  const StagedArtifact apart({"predict"}, {{{"predict"}, hand_made::make_predict}});
  const auto log = std::make_shared<fake::Log>(), other = std::make_shared<fake::Log>();
  const Trainer trainer = trainer_of(staged.artifact(), fake::device(log));
  const Trainer alone = trainer_of(apart.artifact(), fake::device(other));
  // Both loss scales with their counters: four scalars in slots of 64 bytes, and kept copies of the
  // scale.
  const std::int64_t difference = log->held_bytes - other->held_bytes;
  CHECK(difference == 4 * 64);
  const auto stats = trainer.stats();
  REQUIRE(stats.arena_bytes_of_stages.size() == 3);
  CHECK(stats.arena_bytes_of_stages[1] - stats.arena_bytes_of_stages[0] >=
        hand_made::kMoreOfPredict);
  CHECK(stats.arena_bytes_of_stages[2] == stats.arena_bytes_of_stages[0]);
}

TEST_CASE("parameters and what a caller set go through all stages as if there were none") {
  const StagedArtifact staged = hand_made::three_stages();
  for (const bool separate : {false, true}) {
    for (const bool late : {false, true}) {
      CAPTURE(separate);
      CAPTURE(late);
      const auto device = [&] {
        return fake::device(std::make_shared<fake::Log>(),
                            {.separate_buffers = separate, .late = late});
      };
      Trainer trainer = trainer_of(staged.artifact(), device());
      Trainer plain = trainer_of(models::line::artifact(), device());
      float rate = 0.5f;
      for (const std::string& stage : kVisits) {
        CAPTURE(stage);
        trainer.enter(stage);
        CHECK(trainer.stage() == stage);
        CHECK(trainer.learning_rate() == rate);
        rate /= 2;
        trainer.set_learning_rate(rate);
        plain.set_learning_rate(rate);
        for (int step = 0; step < 2; ++step) {
          trainer.step(kFeatures, kTarget);
          plain.step(kFeatures, kTarget);
        }
        CHECK(parameters_of(trainer) == parameters_of(plain));
        CHECK(trainer.loss("error") == plain.loss("error"));
        CHECK(trainer.stats().steps == plain.stats().steps);
      }
    }
  }
}

TEST_CASE("a buffer that the model calls workspace is not filled as kernels' workspace is") {
  const auto rename = [](halftone::manifest::Manifest& manifest) {
    for (auto& buffer : manifest.programs.front().buffers) {
      if (buffer.role == halftone::manifest::Role::parameters) buffer.name = "workspace";
    }
  };
  const auto predict = [&](halftone::manifest::Manifest& manifest) {
    rename(manifest);
    hand_made::make_predict(manifest);
  };
  const StagedArtifact staged({"warmup", "predict"},
                              {{{"warmup"}, rename}, {{"predict"}, predict}});
  for (const bool separate : {false, true}) {
    CAPTURE(separate);
    Trainer trainer = trainer_of(staged.artifact(), fake::device(std::make_shared<fake::Log>(),
                                                                 {.separate_buffers = separate}));
    const Floats before = parameters_of(trainer);
    trainer.enter("predict");
    CHECK(parameters_of(trainer) == before);
  }
}

TEST_CASE("each loss scale goes on from where its own stages left it") {
  const StagedArtifact staged = hand_made::three_stages();
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_of(staged.artifact(), fake::device(log));
  CHECK(trainer.stats().loss_scale == 1.0f);
  trainer.enter("predict");
  CHECK(trainer.stats().loss_scale == hand_made::kScaleOfPredict);
  Floats spoiled = kFeatures;
  spoiled[0] = INFINITY;
  // The kernels leave a scale as it is and count the steps that were skipped.
  for (int step = 1; step < hand_made::kPatience; ++step) {
    trainer.step(spoiled, kTarget);
    CHECK_FALSE(trainer.updated());
    CHECK(trainer.stats().floored == step);
  }
  trainer.enter("correct");
  CHECK(trainer.stats().loss_scale == 1.0f);
  CHECK(trainer.stats().floored == 0);
  trainer.step(spoiled, kTarget);
  CHECK(trainer.stats().floored == 1);
  trainer.enter("warmup");  // which shares it
  CHECK(trainer.stats().floored == 1);
  trainer.enter("predict");
  CHECK(trainer.stats().loss_scale == hand_made::kScaleOfPredict);
  CHECK(trainer.stats().floored == hand_made::kPatience - 1);
  CHECK(trainer.stats().skipped_steps == hand_made::kPatience);
  CHECK_THROWS_AS(trainer.step(spoiled, kTarget), halftone::Error);  // its own patience
}

TEST_CASE("a diagnosis is of the stage, and has nothing to run again behind a switch") {
  const StagedArtifact staged = hand_made::three_stages();
  Trainer trainer = trainer_of(staged.artifact(), fake::device());
  trainer.enter("predict");
  Floats spoiled = kFeatures;
  spoiled[0] = INFINITY;
  trainer.step(spoiled, kTarget);
  CHECK(trainer.diagnose().has_value());
  trainer.enter("warmup");
  CHECK(message_of([&] { (void)trainer.diagnose(); }).find("has run nothing") != std::string::npos);
}

TEST_CASE("a pass is forgotten wherever a stage is entered, of other rules or of the same ones") {
  const StagedArtifact staged = hand_made::three_stages();
  Trainer trainer = trainer_of(staged.artifact(), fake::device());
  for (const std::string stage : {"correct", "predict"}) {
    CAPTURE(stage);
    trainer.forward(kFeatures, kTarget);
    trainer.enter(stage);
    CHECK(message_of([&] { trainer.backward(); }).find("has not done forward()") !=
          std::string::npos);
    CHECK(message_of([&] { (void)trainer.diagnose(); }).find("has run nothing") !=
          std::string::npos);
  }
}

TEST_CASE("a device that fails leaves a resume undone or the trainer unwhole, in no other stage") {
  const StagedArtifact staged = hand_made::three_stages();
  const halftone::tests::ScratchFolder scratch;
  {
    Trainer trainer = trainer_of(staged.artifact(), fake::device());
    trainer.enter("predict");
    trainer.step(kFeatures, kTarget);
    trainer.save(scratch / "file");
  }
  int refused = 0;
  for (std::size_t at = 1;; ++at) {
    CAPTURE(at);
    const auto log = std::make_shared<fake::Log>();
    Trainer trainer = trainer_of(staged.artifact(), fake::device(log));
    const Floats before = parameters_of(trainer);
    log->failure = {halftone::DriverStatus::Kind::failed, "the fake says no", ""};
    log->fail_at = log->calls.size() + at;
    const std::size_t fails_at = log->fail_at;
    const std::string refusal = message_of([&] { trainer.resume(scratch / "file"); });
    CAPTURE(refusal);
    const bool is_done = refusal == "no error";
    const bool failed = log->calls.size() >= fails_at;
    log->fail_at = 0;
    if (is_done) {  // what is only asked for, such as the count at the floor, may fail
      CHECK(trainer.stage() == "predict");
      CHECK(trainer.stats().steps == 1);
    }
    if (!failed) break;
    if (is_done) continue;
    ++refused;
    CHECK(refusal.find("the fake says no") != std::string::npos);
    const std::string torn = message_of([&] { trainer.save(scratch / "other"); });
    if (torn.find("was left between two steps") != std::string::npos) continue;
    CHECK(trainer.stage() == "warmup");
    CHECK(parameters_of(trainer) == before);
  }
  CHECK(refused > 10);
}

TEST_CASE(
    "a stage of no name is refused where there are stages, and nothing where there are none") {
  const StagedArtifact staged = hand_made::three_stages();
  Trainer trainer = trainer_of(staged.artifact(), fake::device());
  CHECK(message_of([&] { trainer.enter(""); }).find("the model's stages are 'warmup'") !=
        std::string::npos);
  CHECK(trainer.stage() == "warmup");
  Trainer plain = trainer_of(models::line::artifact(), fake::device());
  plain.enter(plain.stage());
  CHECK(plain.stage().empty());
}

TEST_CASE("schedules and ladders refuse steps that there are none of, and stages named twice") {
  using halftone::StageLadder, halftone::StageSchedule;
  const StageSchedule cycle({}, {{"full", 2}, {"predict", 1}});
  CHECK(cycle.at(2) == "predict");
  CHECK(StageSchedule({{"warmup", 1}, {"full", 2}}, {{"full", 2}, {"predict", 1}}).stages() ==
        std::vector<std::string>{"warmup", "full", "predict"});
  CHECK(message_of([&] { (void)cycle.at(-1); }).find("step -1 comes before the first one") !=
        std::string::npos);
  const auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(message_of([&] {
          StageSchedule({{"full", 1}, {"predict", most}});
        }).find("stage 'predict' makes it longer than 2^62 steps") != std::string::npos);
  CHECK(message_of([] {
          StageLadder({.stages = {"f16", "f32", "f16"}});
        }).find("stage 'f16' occurs twice") != std::string::npos);
}

TEST_CASE("a model without stages has none to enter, and stages are all there or refused") {
  Trainer trainer = trainer_of(models::line::artifact(), fake::device());
  CHECK(trainer.stage().empty());
  CHECK(trainer.stages().empty());
  CHECK(message_of([&] { trainer.enter("predict"); }).find("give HALFTONE_MODEL stages(...)") !=
        std::string::npos);
  const auto refused = [](const std::vector<std::string>& stages,
                          const std::vector<StagedArtifact::Group>& groups) {
    const StagedArtifact staged(stages, groups);
    return message_of([&] { (void)staged.artifact(); });
  };
  CHECK(refused({"a", "b"}, {{{"a"}}}).find("its code and its manifest do not belong") !=
        std::string::npos);
  CHECK(refused({"a", "b"}, {{{"b"}}, {{"a"}}}).find("its code and its manifest do not belong") !=
        std::string::npos);
  CHECK(refused({"a"}, {{{"a", "c"}}}).find("stage 'c' is unknown") != std::string::npos);
  CHECK(refused({"a"}, {{{}}}).find("it holds in no stage") != std::string::npos);
  CHECK(refused({"a", "a"}, {{{"a"}}}).find("occurs twice") != std::string::npos);
  CHECK(refused({"a", "b"}, {{{"a"}}, {{"b"}, split_masters}})
            .find("its stages hold buffer 'parameters' in several formats") != std::string::npos);
  CHECK(StagedArtifact({"a", "b"}, {{{"a"}, split_masters}, {{"b"}, split_masters}})
            .artifact()
            .manifests()
            .size() == 2);
}

TEST_CASE("predictors are of the first stage, or of the one that they are told") {
  const StagedArtifact staged = hand_made::three_stages();
  for (const std::string stage : {"", "predict"}) {
    const halftone::Binding batch{"batch", 2};
    halftone::Predictor predictor(staged.artifact(), fake::device(),
                                  {.model = "line", .bindings = {&batch, 1}, .stage = stage});
    predictor.set_parameter("fc.weight", kWeight);
    predictor.set_parameter("fc.bias", kBias);
    const halftone::NamedValues features{"features", std::span<const float>(kFeatures)};
    predictor.predict({&features, 1});
    CHECK(copy(predictor.output("prediction")) == kPrediction);
  }
}

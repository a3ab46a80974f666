// SPDX-License-Identifier: Apache-2.0
// A run that goes from stage to stage (P66, P70, P71): in each it computes what the reference does
// under that stage's rules, and what a trainer does that has those rules alone; what persists goes
// on, through checkpoints, too, and no memory is taken on the way.
#include "halftone/stages.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "halftone/fit.hpp"
#include "halftone/manifest/plan.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

constexpr std::int64_t kBatch = 6;
/// Every stage after every other, and one of them twice.
const std::vector<std::string> kVisits = {"warmup",  "full",    "predict", "full",   "correct",
                                          "predict", "warmup",  "correct", "full",   "warmup",
                                          "predict", "correct", "predict", "predict"};

Pair staged_pair(const std::string& variant, std::uint64_t seed = 1) {
  return make_pair(kArtifacts[0], variant, kBatch, seed);
}

std::string file_name(const char* name) {
  return (std::filesystem::temp_directory_path() /
          ("halftone_stages_" + std::string(name) + std::to_string(getpid())))
      .string();
}

/// The reference of a run through stages: the state is carried, but each loss scale is its own.
class Staged {
 public:
  explicit Staged(Pair& pair) : pair_(pair) {}

  void enter(const std::string& stage) {
    const bool was_scaled = stage_ == "full", is_scaled = stage == "full";
    if (was_scaled && !is_scaled) parked_ = pair_.state.scaling;
    pair_.reference = reference::Declared(pair_.description, pair_.symbols, "cpu", stage);
    const auto first = pair_.reference.initial_state(pair_.state.parameters);
    if (!was_scaled && is_scaled) pair_.state.scaling = parked_ ? *parked_ : first.scaling;
    if (!is_scaled) pair_.state.scaling = first.scaling;
    stage_ = stage;
  }

 private:
  Pair& pair_;
  std::string stage_ = "warmup";
  std::optional<reference::Scaling> parked_;
};

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Everything that steps to come depend on and the public face shows.
std::vector<std::uint32_t> shown(Trainer& trainer) {
  std::vector<std::uint32_t> all;
  for (const std::string& name : trainer.parameter_names()) {
    for (const float value : trainer.parameter(name)) all.push_back(bits(value));
    for (const float value : trainer.average(name)) all.push_back(bits(value));
  }
  for (const float value : trainer.state("average")) all.push_back(bits(value));
  const Statistics stats = trainer.stats();
  all.push_back(bits(stats.loss_scale));
  all.push_back(static_cast<std::uint32_t>(stats.steps));
  all.push_back(static_cast<std::uint32_t>(stats.skipped_steps));
  return all;
}

}  // namespace

TEST_CASE("in every stage a run computes what the reference does, and what persists goes on") {
  for (const std::string& variant : tested_variants()) {
    CAPTURE(variant);
    Pair pair = staged_pair(variant);
    Staged staged(pair);
    const std::int64_t bytes = pair.trainer.stats().peak_bytes_measured;
    int visit = 0;
    bool scale_moved = false;
    for (const std::string& stage : kVisits) {
      CAPTURE(visit);
      CAPTURE(stage);
      pair.trainer.enter(stage);
      staged.enter(stage);
      CHECK(pair.trainer.stage() == stage);
      for (int step = 0; step < 3; ++step) {
        CAPTURE(step);
        pair.draw();
        if (stage == "full" && visit % 2 == 1 && step == 1) pair.spoil(INFINITY);
        check_step(pair);
        CHECK(first_difference(pair.trainer.state("average"), pair.state.states.at("average")) ==
              -1);
        const float scale = stage == "full" ? pair.state.scaling.scale : 1.0f;
        CHECK(pair.trainer.stats().loss_scale == scale);
        scale_moved = scale_moved || (stage == "full" && scale != 64.0f);
      }
      ++visit;
    }
    CHECK(scale_moved);
    CHECK(pair.trainer.stats().skipped_steps > 0);
    CHECK(pair.trainer.stats().peak_bytes_measured == bytes);
    CHECK(pair.trainer.stats().peak_bytes_predicted == bytes);
  }
}

TEST_CASE("after a switch a run is that of a trainer which has the stage's rules alone") {
  const std::string file = file_name("alone");
  Pair pair = staged_pair(tested_variant);
  Trainer alone(Artifact::linked(*kArtifacts[1].image), pair.device, pair.setup(2));
  for (int round = 0; round < 2; ++round) {
    pair.trainer.enter("warmup");
    for (int step = 0; step < 2; ++step) {
      pair.draw();
      pair.trainer.step(pair.named_inputs());
    }
    pair.trainer.save(file);
    pair.trainer.enter("predict");
    (void)alone.resume(file, {.other_rules = true});
    alone.enter("predict");
    check_equal_steps(pair, alone);
  }
  // That the rules matter: those of the first stage give other bits.
  pair.draw();
  alone.step(pair.named_inputs());
  pair.trainer.enter("warmup");
  pair.trainer.step(pair.named_inputs());
  CHECK(first_difference(alone.parameter("fc1.weight"), pair.trainer.parameter("fc1.weight")) !=
        -1);
  std::remove(file.c_str());
}

TEST_CASE("a checkpoint of any stage resumes in it, with the loss scales of the others") {
  const std::string file = file_name("resumed");
  for (const std::string stage : {"warmup", "full", "predict", "correct"}) {
    CAPTURE(stage);
    Pair straight = staged_pair(tested_variant), inputs = staged_pair(tested_variant);
    Trainer other(inputs.artifact, Device::cpu(tested_variant).with_threads(3), inputs.setup(2));
    const auto draw = [&] { straight.draw(), inputs.draw(); };
    straight.trainer.enter("full");
    for (int step = 0; step < 4; ++step) {  // and the scale grows
      draw();
      straight.trainer.step(straight.named_inputs());
    }
    REQUIRE(straight.trainer.stats().loss_scale == 128.0f);
    straight.trainer.enter(stage);
    draw();
    straight.trainer.step(straight.named_inputs());
    straight.trainer.save(file);
    other.enter("correct");
    other.step(inputs.named_inputs());
    CHECK(other.resume(file).stage == stage);
    CHECK(other.stage() == stage);
    for (const std::string& next : {stage, std::string("full"), std::string("predict"), stage}) {
      CAPTURE(next);
      straight.trainer.enter(next);
      other.enter(next);
      for (int step = 0; step < 2; ++step) {
        draw();
        straight.trainer.step(straight.named_inputs());
        other.step(inputs.named_inputs());
      }
      CHECK(shown(straight.trainer) == shown(other));
    }
  }
  std::remove(file.c_str());
}

TEST_CASE("the arena is that of the largest stage, and known before there is a trainer") {
  Pair pair = staged_pair(tested_variant);
  const Statistics stats = pair.trainer.stats();
  const std::vector<StageMemory> planned = plan_stages(pair.artifact, pair.device, pair.setup(1));
  REQUIRE(planned.size() == 4);
  REQUIRE(stats.arena_bytes_of_stages.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(planned[i].stage == pair.trainer.stages()[i]);
    CHECK(planned[i].bytes() == stats.arena_bytes_of_stages[i]);
  }
  CHECK(planned[0].working == planned[3].working);  // one program
  CHECK(planned[1].kept > planned[0].kept);         // a loss scale
  // Of the program alone, as its manifests say it, and no more than one loss scale apart.
  std::int64_t largest = 0, all = 0;
  for (const manifest::Manifest& manifest : pair.artifact.manifests()) {
    for (const manifest::Program& program : manifest.programs) {
      if (program.name != "training") continue;
      const std::vector<std::int64_t> symbols = {kBatch};
      const std::int64_t bytes = manifest::plan_arena(program, symbols).bytes;
      largest = std::max(largest, bytes);
      all += bytes;
    }
  }
  CHECK(*std::max_element(stats.arena_bytes_of_stages.begin(), stats.arena_bytes_of_stages.end()) ==
        largest);
  CHECK(stats.peak_bytes_measured < all);
}

TEST_CASE("micro-batches are summed in any stage, and no stage is entered between them") {
  Pair pair = staged_pair(tested_variant);
  Staged staged(pair);
  for (const std::string stage : {"warmup", "full", "predict", "full"}) {
    CAPTURE(stage);
    pair.trainer.enter(stage);
    staged.enter(stage);
    std::vector<reference::Inputs<float>> batches;
    for (int batch = 0; batch < 3; ++batch) {
      pair.draw();
      batches.push_back(pair.inputs);
      if (batch == 2) break;
      pair.trainer.accumulate(pair.named_inputs());
      CHECK(refusal([&] { pair.trainer.enter("correct"); }).find("micro-batches") !=
            std::string::npos);
      CHECK(pair.trainer.stage() == stage);
    }
    const auto expected = pair.reference.step(pair.state, batches);
    pair.trainer.step(pair.named_inputs());
    pair.state = expected.state;
    check_parameters(pair);
  }
}

TEST_CASE("a stage that there is none of is refused, and the one that was nearest named") {
  Pair pair = staged_pair(tested_variant);
  const std::string unknown = refusal([&] { pair.trainer.enter("predct"); });
  CHECK(unknown.find("the stage 'predct' is none of model 'stages'; did you mean 'predict'?") !=
        std::string::npos);
  CHECK(unknown.find("'warmup', 'full', 'predict', 'correct'") != std::string::npos);
  CHECK(pair.trainer.stage() == "warmup");
  Setup setup = pair.setup(1);
  setup.stage = "ful";
  CHECK(refusal([&] { Trainer(pair.artifact, pair.device, setup); }).find("'full'") !=
        std::string::npos);
  CHECK(refusal([&] { Predictor(pair.artifact, pair.device, setup); }).find("'full'") !=
        std::string::npos);
  pair.draw();
  pair.trainer.forward(pair.named_inputs());
  pair.trainer.backward();
  (void)pair.trainer.check();
  CHECK(refusal([&] { pair.trainer.enter("full"); }).find("update()") != std::string::npos);
  pair.trainer.update();
  pair.trainer.enter("full");
  CHECK(refusal([&] { pair.trainer.backward(); }) != "");  // of a pass that is forgotten
}

TEST_CASE("a predictor is of one stage, the first unless it is told") {
  Pair pair = staged_pair(tested_variant);
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  for (const std::string stage : {"", "predict", "full"}) {
    CAPTURE(stage);
    Setup setup = pair.setup(3);
    setup.stage = stage;
    Predictor predictor(pair.artifact, pair.device, setup);
    predictor.copy_parameters(pair.trainer);
    predictor.copy_states(pair.trainer);
    predictor.predict(inputs_of_predictor(pair, true));
    const reference::Declared reference(pair.description, pair.symbols, "cpu", stage);
    reference::State<float> state = pair.state;
    for (auto& [name, values] : state.parameters) {
      const auto now = pair.trainer.parameter(name);
      values.assign(now.begin(), now.end());
    }
    const auto expected = reference.predict(state, pair.inputs);
    const auto logits = reference.find("fc2");
    CHECK(first_difference(predictor.output("logits"),
                           expected.values[static_cast<std::size_t>(logits)]) == -1);
  }
}

TEST_CASE("a trainer may begin in any stage") {
  Pair pair = staged_pair(tested_variant);
  Setup setup = pair.setup(1);
  setup.stage = "predict";
  Trainer other(pair.artifact, pair.device, setup);
  CHECK(other.stage() == "predict");
  pair.trainer.enter("predict");
  check_equal_steps(pair, other);
}

TEST_CASE("a schedule of stages is the list written out") {
  for (const int warm : {1, 3}) {
    for (const int cycles : {0, 1, 2}) {
      CAPTURE(warm);
      CAPTURE(cycles);
      std::vector<StageSteps> once = {{"warmup", warm}, {"full", 2}}, cycle;
      if (cycles > 0) cycle = {{"predict", 4}, {"correct", cycles}};
      const StageSchedule schedule(once, cycle);
      std::vector<std::string> written;
      for (const StageSteps& each : once) written.insert(written.end(), each.steps, each.stage);
      while (written.size() < 40) {
        if (cycle.empty()) written.push_back("full");
        for (const StageSteps& each : cycle) written.insert(written.end(), each.steps, each.stage);
      }
      for (std::size_t step = 0; step < 40; ++step) {
        CAPTURE(step);
        CHECK(schedule.at(static_cast<std::int64_t>(step)) == written[step]);
        for (const std::string& stage : schedule.stages()) {
          const auto in = std::count(written.begin(), written.begin() + step + 1, stage);
          CHECK(schedule.share_of(stage, static_cast<std::int64_t>(step) + 1) ==
                static_cast<double>(in) / static_cast<double>(step + 1));
        }
      }
    }
  }
  const StageSchedule named({{"warmup", 3}}, {{"full", 2}});
  CHECK(refusal([&] { (void)named.share_of("fulll", 4); }) ==
        "tell the share of a stage: stage 'fulll' is none of the schedule's; name one of 'warmup', "
        "'full'");
  CHECK(refusal([] { StageSchedule({}); }).find("has no stage") != std::string::npos);
  CHECK(refusal([] { StageSchedule({{"full", 0}}); }).find("lasts 0 steps") != std::string::npos);
}

namespace {

/// What a sink was given.
class Keeper final : public RunSink {
 public:
  explicit Keeper(std::vector<LogEntry>& entries) : entries_(entries) {}
  void begin(const RunFacts&) override {}
  void write(const LogEntry& entry) override { entries_.push_back(entry); }

 private:
  std::vector<LogEntry>& entries_;
};

Dataset rows_of(std::int64_t count) {
  std::vector<float> x;
  std::vector<std::int32_t> label;
  for (std::int64_t i = 0; i < count * 10; ++i) x.push_back(static_cast<float>(i % 17) / 17 - 0.5f);
  for (std::int64_t i = 0; i < count; ++i) label.push_back(static_cast<std::int32_t>(i % 7));
  return Dataset::own({{"x", x}, {"label", label}}, count);
}

}  // namespace

TEST_CASE("fit follows a schedule of stages, of a run that resumes from where it was") {
  const std::string file = file_name("fit");
  const StageSchedule schedule({{"warmup", 3}}, {{"full", 2}, {"predict", 4}});
  const auto run = [&](std::vector<std::int64_t> ends, std::vector<std::string>& stages) {
    std::vector<std::uint32_t> result;
    for (const std::int64_t end : ends) {
      Pair pair = staged_pair(tested_variant);
      Loader loader(rows_of(20), {.batch = kBatch, .seed = 5});
      const auto note = [&](const FitProgress&) {
        stages.push_back(pair.trainer.stage());
        return true;
      };
      fit(pair.trainer, loader,
          {.epochs = 100,
           .steps = end,
           .checkpoint = file,
           .stages = schedule,
           .after_step = note});
      result = shown(pair.trainer);
    }
    std::remove(file.c_str());
    return result;
  };
  std::vector<std::string> straight, stopped;
  const auto whole = run({14}, straight), parts = run({4, 8, 14}, stopped);
  REQUIRE(straight.size() == 14);
  for (std::int64_t step = 0; step < 14; ++step) {
    CAPTURE(step);
    CHECK(straight[static_cast<std::size_t>(step)] == schedule.at(step));
  }
  CHECK(straight == stopped);
  CHECK(whole == parts);
}

TEST_CASE("a run log has the stage of every entry, and an entry of the first step in another") {
  Pair pair = staged_pair(tested_variant);
  std::vector<LogEntry> entries;
  RunLog log(pair.trainer, {.every = 100});
  log.add(std::make_unique<Keeper>(entries));
  for (const std::string stage : {"warmup", "warmup", "predict", "predict", "correct", "full"}) {
    pair.trainer.enter(stage);
    pair.draw();
    pair.trainer.step(pair.named_inputs());
    log.step(pair.trainer);
  }
  log.finish(pair.trainer);
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const LogEntry& entry : entries) found.emplace_back(entry.step, entry.stage);
  using Entries = std::vector<std::pair<std::int64_t, std::string>>;
  CHECK(found == Entries{{1, "warmup"}, {3, "predict"}, {5, "correct"}, {6, "full"}});
}

TEST_CASE("a ladder goes on to the next stage after a window with too many skipped steps") {
  Pair pair = staged_pair(tested_variant);
  pair.trainer.enter("full");
  StageLadder ladder({.stages = {"full", "predict", "correct"}, .window = 4, .most_skipped = 0.5});
  const auto window = [&](StageLadder& of, int spoiled) {
    bool entered = false;
    for (int step = 0; step < 4; ++step) {
      pair.draw();
      if (step < spoiled) pair.spoil(INFINITY);
      pair.trainer.step(pair.named_inputs());
      CHECK_FALSE(entered);  // with the last step of a window alone
      entered = of.step(pair.trainer);
    }
    return entered;
  };
  CHECK_FALSE(window(ladder, 0));
  CHECK_FALSE(window(ladder, 2));  // a half is not more than a half
  CHECK(pair.trainer.stage() == "full");
  StageLadder again({.stages = {"full", "predict", "correct"}, .window = 4, .most_skipped = 0.5});
  again.restore(ladder.state());
  CHECK(window(again, 3));
  CHECK(pair.trainer.stage() == "predict");
  CHECK(again.taken().step == pair.trainer.stats().steps);
  CHECK(again.taken().from == "full");
  CHECK(again.taken().to == "predict");
  CHECK(again.taken().why == "3 of 4 steps were skipped, more than 50 %");
  CHECK(window(again, 4));
  CHECK(pair.trainer.stage() == "correct");
  CHECK_FALSE(window(again, 4));  // the last resort
  pair.trainer.enter("warmup");
  CHECK(refusal([&] { window(again, 0); }).find("is none of the ladder's") != std::string::npos);
  CHECK(refusal([&] { again.restore("4 0"); }).find("is none that state() gave") !=
        std::string::npos);
  CHECK(refusal([] { StageLadder({.stages = {"full"}}); }).find("has 1") != std::string::npos);
  StageLadder misspelt({.stages = {"full", "corect"}});
  CHECK(refusal([&] { misspelt.step(pair.trainer); }) ==
        "step down a ladder of stages: stage 'corect' is none of the model's; the model's stages "
        "are 'warmup', 'full', 'predict', 'correct'");
}

}  // namespace halftone::tests

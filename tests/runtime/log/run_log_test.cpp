// SPDX-License-Identifier: Apache-2.0
// When entries are made and what is in them, of the step that worked_example.hpp works out by hand.
#include "halftone/run_log.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "../files/scratch_folder.hpp"
#include "../worked_example.hpp"
#include "halftone/run_sinks.hpp"
#include "message_of.hpp"

using namespace models;
using namespace worked_example;
using halftone::RunFacts, halftone::RunLog, halftone::LogEntry;
using halftone::tests::ScratchFolder, halftone::tests::write_file;

namespace {

/// What a sink was given.
struct Kept {
  std::vector<RunFacts> facts;
  std::vector<LogEntry> entries;
  std::vector<halftone::LogPicture> pictures;
  int ends = 0;
};

class Keeper final : public halftone::RunSink {
 public:
  explicit Keeper(Kept& kept) : kept_(kept) {}
  void begin(const RunFacts& facts) override { kept_.facts.push_back(facts); }
  void write(const LogEntry& entry) override { kept_.entries.push_back(entry); }
  void picture(const halftone::LogPicture& picture) override { kept_.pictures.push_back(picture); }
  void end() override { ++kept_.ends; }

 private:
  Kept& kept_;
};

std::vector<std::int64_t> steps_of(const Kept& kept) {
  std::vector<std::int64_t> steps;
  for (const LogEntry& entry : kept.entries) steps.push_back(entry.step);
  return steps;
}

/// So many steps of a new trainer, the last but one with a metric.
Kept logged(std::int64_t steps, std::int64_t every) {
  Kept kept;
  line::Trainer trainer = make_trainer();
  RunLog log(trainer, {.every = every});
  log.add(std::make_unique<Keeper>(kept)).add(nullptr);
  for (std::int64_t step = 1; step <= steps; ++step) {
    trainer.step(kFeatures, kTarget);
    if (step == steps - 1)
      log.step(trainer, {{"accuracy", 0.5}});
    else
      log.step(trainer);
  }
  log.finish(trainer);
  log.finish(trainer);
  return kept;
}

/// By the name of its kernel.
RunFacts::Kernel kernel_of(const RunFacts& facts, const std::string& name) {
  for (const RunFacts::Kernel& kernel : facts.kernels)
    if (kernel.name == name) return kernel;
  return {};
}

std::vector<std::string> named(const RunFacts& facts, const std::vector<std::int32_t>& buffers) {
  std::vector<std::string> names;
  for (const std::int32_t buffer : buffers)
    names.push_back(facts.buffers[static_cast<std::size_t>(buffer)].name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("an entry says what the step came to") {
  Kept kept;
  line::Trainer trainer = make_trainer();
  RunLog log(trainer, {.every = 1, .name = "by hand"});
  log.add(std::make_unique<Keeper>(kept));
  trainer.step(kFeatures, kTarget);
  log.step(trainer);
  log.finish(trainer, {{"accuracy", 0.25}});
  REQUIRE(kept.entries.size() == 2);
  const LogEntry& entry = kept.entries[0];
  CHECK(entry.step == 1);
  CHECK(entry.steps == 1);
  CHECK(entry.skipped == 0);
  REQUIRE(entry.losses.size() == 1);
  CHECK(entry.losses[0].name == "error");
  CHECK(entry.losses[0].value == 3.0f);
  CHECK(entry.grad_norm == doctest::Approx(std::sqrt(18.0f)));  // of 1 3 1 0 -1 -1 and 2 -1
  CHECK(entry.loss_scale == 1.0f);
  CHECK(entry.learning_rate == 0.5f);
  CHECK(entry.peak_bytes == trainer.stats().peak_bytes_measured);
  REQUIRE(entry.ms_per_step);
  REQUIRE(entry.rows_per_second);
  CHECK(*entry.ms_per_step * *entry.rows_per_second == doctest::Approx(2000.0));  // 2 rows
  CHECK(entry.metrics.empty());
  const LogEntry& last = kept.entries[1];
  CHECK(last.step == 1);
  CHECK(last.steps == 0);
  CHECK_FALSE(last.ms_per_step);
  REQUIRE(last.metrics.size() == 1);
  CHECK(last.metrics[0].value == 0.25);
  CHECK(kept.ends == 1);
}

TEST_CASE(
    "entries are of the first step, of every so many, of those with metrics and of the last") {
  CHECK(steps_of(logged(25, 10)) == std::vector<std::int64_t>{1, 10, 20, 24, 25});
  CHECK(steps_of(logged(20, 10)) == std::vector<std::int64_t>{1, 10, 19, 20});
  CHECK(steps_of(logged(3, 1)) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(steps_of(logged(2, 100)) == std::vector<std::int64_t>{1, 2});
  CHECK(logged(25, 10).ends == 1);
}

TEST_CASE("steps that were skipped are counted in the entry that they are of") {
  Kept kept;
  line::Trainer trainer = make_trainer();
  RunLog log(trainer, {.every = 3});
  log.add(std::make_unique<Keeper>(kept));
  Floats spoiled = kTarget;
  spoiled[0] = INFINITY;
  for (int step = 1; step <= 6; ++step) {
    trainer.step(kFeatures, step == 2 || step == 6 ? spoiled : kTarget);
    log.step(trainer);
  }
  REQUIRE(kept.entries.size() == 3);  // of 1, 3 and 6
  CHECK(kept.entries[0].skipped == 0);
  CHECK(kept.entries[1].skipped == 1);
  CHECK(kept.entries[1].skipped_steps == 1);
  CHECK(kept.entries[2].skipped == 1);
  CHECK(kept.entries[2].skipped_steps == 2);
  CHECK(std::isinf(kept.entries[2].losses[0].value));
}

TEST_CASE("entries have the gradient of every layer where they are asked to") {
  Kept kept;
  line::Trainer trainer = make_trainer();
  RunLog log(trainer, {.every = 1, .layer_gradients = true});
  log.add(std::make_unique<Keeper>(kept));
  trainer.step(kFeatures, kTarget);
  log.step(trainer);
  Floats spoiled = kTarget;
  spoiled[0] = INFINITY;
  trainer.step(kFeatures, spoiled);
  log.step(trainer);
  CHECK(kept.facts[0].trained == Names{"fc.weight", "fc.bias"});
  CHECK(kept.facts[0].gradient_layers == Names{"fc"});
  REQUIRE(kept.entries.size() == 2);
  REQUIRE(kept.entries[0].layer_gradients.size() == 1);
  CHECK(kept.entries[0].layer_gradients[0].value() == doctest::Approx(std::sqrt(18.0)));
  CHECK_FALSE(std::isfinite(kept.entries[1].layer_gradients.at(0).value()));
  CHECK(logged(3, 1).entries[0].layer_gradients.empty());
}

TEST_CASE("a log of a trainer that did steps before begins behind them") {
  line::Trainer trainer = make_trainer();
  for (int step = 0; step < 4; ++step) trainer.step(kFeatures, kTarget);
  Kept kept;
  RunLog log(trainer);
  log.add(std::make_unique<Keeper>(kept));
  trainer.step(kFeatures, kTarget);
  log.step(trainer);
  CHECK(kept.facts[0].first_step == 4);
  CHECK(kept.entries[0].step == 5);
  CHECK(kept.entries[0].steps == 1);
}

TEST_CASE("facts say what the model is and which kernel reads and writes what") {
  line::Trainer trainer = make_trainer();
  const RunFacts facts = facts_of(trainer);
  CHECK(facts.name == "line");
  CHECK(facts.model == "line");
  CHECK(facts.rules == Names{"where layer \"fc\" pass forward : result tf32"});
  CHECK(facts.losses == Names{"error"});
  CHECK(facts.loss_scale == "dynamic");
  CHECK(facts.device == device().name());
  CHECK(facts.variant == trainer.stats().variant);
  REQUIRE(facts.sizes.size() == 1);
  CHECK(facts.sizes[0] == std::pair<std::string, std::int64_t>{"batch", 2});
  CHECK(facts.seed == 1);
  CHECK(facts.parameter_tensors == 2);
  CHECK(facts.parameters == 8);
  CHECK(facts.trained_parameters == 8);
  REQUIRE(facts.kernels.size() == 6);
  const RunFacts::Kernel forward = kernel_of(facts, "line_forward");
  CHECK(forward.phase == "forward");
  CHECK(named(facts, forward.reads) == Names{"features", "parameters"});
  CHECK(named(facts, forward.writes) == Names{"prediction"});
  const RunFacts::Kernel loss = kernel_of(facts, "line_loss");
  CHECK(named(facts, loss.reads) == Names{"prediction", "target"});
  CHECK(named(facts, loss.writes) == Names{"row_errors", "error"});
  const RunFacts::Kernel backward = kernel_of(facts, "line_backward");
  CHECK(named(facts, backward.writes) == Names{"gradients"});
  REQUIRE(facts.casts.size() == 1);
  CHECK(facts.casts[0].value == "fc");
  CHECK(facts.casts[0].from == "f32");
  CHECK(facts.casts[0].to == "tf32");
  CHECK(facts.casts[0].rule == facts.rules[0]);
}

TEST_CASE("memory by role and format adds up to what was obtained") {
  line::Trainer trainer = make_trainer();
  std::int64_t sum = 0, of_parameters = 0;
  for (const RunFacts::Memory& memory : facts_of(trainer).memory) {
    if (memory.role != "accumulated") sum += memory.bytes;  // once there are micro-batches
    if (memory.role == "parameters") of_parameters = memory.bytes;
  }
  CHECK(of_parameters == 64 * 4);
  CHECK(sum == trainer.stats().peak_bytes_predicted);
}

TEST_CASE("pictures go to all sinks, once their file is there") {
  const ScratchFolder scratch;
  line::Trainer trainer = make_trainer();
  Kept one, other;
  RunLog log(trainer);
  log.add(std::make_unique<Keeper>(one)).add(std::make_unique<Keeper>(other));
  const std::string file = scratch / "a.png";
  CHECK(message_of([&] { log.picture({.step = 3, .name = "samples", .file = file}); }) ==
        "log: picture 'samples' has no file '" + file + "'; write the file first");
  write_file(file, "bytes");
  log.picture({.step = 3, .name = "samples", .file = file});
  CHECK(message_of([&] { log.picture({.step = 3, .name = "", .file = file}); }) ==
        "log: picture has no name; give it a name in UTF-8");
  for (const Kept* kept : {&one, &other}) {
    REQUIRE(kept->pictures.size() == 1);
    CHECK(kept->pictures[0].step == 3);
    CHECK(kept->pictures[0].name == "samples");
    CHECK(kept->pictures[0].file == file);
    CHECK(kept->entries.empty());
  }
}

TEST_CASE("options and names that are none are refused") {
  line::Trainer trainer = make_trainer();
  CHECK(message_of([&] { RunLog log(trainer, {.every = 0}); }) ==
        "log: option 'every' is 0; give 1 or more");
  CHECK(message_of([&] { RunLog log(trainer, {.rows_per_step = -1}); }) ==
        "log: option 'rows_per_step' is -1; give 0 or more");
  CHECK(message_of([&] { RunLog log(trainer, {.name = "a\xff"}); }) ==
        "log: run 'a\xff' is no UTF-8; give it a name in UTF-8");
  Kept kept;
  RunLog log(trainer);
  log.add(std::make_unique<Keeper>(kept));
  trainer.step(kFeatures, kTarget);
  CHECK(message_of([&] {
          log.step(trainer, {{"", 1.0}});
        }) == "log: metric has no name; give it a name in UTF-8");
}

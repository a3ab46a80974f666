// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <halftone/fit.hpp>
#include <halftone/run_sinks.hpp>
#include <limits>
#include <stdexcept>

namespace {

constexpr std::int64_t kSaveEvery = 50;  // steps

/// Where a run begins that does not go on: nothing where it is with weights that are drawn.
std::filesystem::path first_weights(const Task& of, const Plan& plan) {
  if (!plan.first_weights.empty() || plan.fresh || of.begins_with.empty())
    return plan.first_weights;
  const Task& before = task(of.begins_with);
  const RuleSet* rules = trained_rules(plan.folder, before, false);
  if (rules == nullptr)
    throw std::runtime_error("genome: " + of.name + " begins with the weights of " + before.name +
                             ", which is not trained; train it first, or take --fresh");
  return file_of(plan.folder, before, false, *rules, ".safetensors");
}

class Training {
 public:
  Training(const Task& task, const halftone::Device& device, const Plan& plan)
      : task_(task),
        plan_(plan),
        device_(device),
        batch_(plan.batch > 0 ? plan.batch : task.batch),
        steps_(plan.steps > 0 ? plan.steps : task.steps) {}

  Run run() {
    const RuleSet* rules = trained_rules(plan_.folder, task_, plan_.fresh);
    const std::filesystem::path weights =
        rules == nullptr ? first_weights(task_, plan_) : std::filesystem::path();
    if (rules == nullptr) rules = &task_.rules.front();
    const auto start = std::chrono::steady_clock::now();
    while (!goes_through(*rules, weights)) rules = &next(*rules);
    run_.rules = rules->name;
    run_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return run_;
  }

 private:
  /// Whether the rules held to the end.
  bool goes_through(const RuleSet& rules, const std::filesystem::path& weights) {
    const auto checkpoint = file(rules, ".safetensors");
    halftone::Trainer trainer =
        trainer_of(rules.artifact, device_, task_.length, batch_, plan_.seed);
    const bool goes_on = std::filesystem::exists(checkpoint);
    if (goes_on)
      run_.first_step = std::max(run_.first_step, trainer.resume(checkpoint).steps);
    else if (!weights.empty())
      trainer.load_weights(weights);
    halftone::Predictor predictor = predictor_of(rules.artifact, device_, task_.length, batch_);
    halftone::Loader batches(rows_of(task_, plan_.folder, task_.learned),
                             {.batch = batch_, .seed = plan_.seed, .drop_last = true});
    halftone::Loader held_out(rows_of(task_, plan_.folder, task_.judged),
                              {.batch = batch_, .shuffle = false});
    halftone::RunLog log(trainer, {.name = checkpoint.stem().string()});
    if (plan_.progress)
      log.add(
          halftone::sink_of_environment(stderr, halftone::LogChoice::progress, {.steps = steps_}));
    log.add(halftone::json_lines(
        file(rules, ".jsonl"), goes_on ? halftone::IfExists::append : halftone::IfExists::replace));
    skipped_ = 0;
    scale_ = trainer.stats().loss_scale;
    const auto result =
        halftone::fit(trainer, batches,
                      {.epochs = std::numeric_limits<std::int64_t>::max(),
                       .steps = steps_,
                       .validation = halftone::Validation{&predictor, &held_out},
                       .checkpoint = checkpoint,
                       .save_every = kSaveEvery,
                       .log = &log,
                       .after_step = [&](const auto&) { return looks_well(trainer); }});
    log.finish(trainer, result.metrics);
    run_.statistics = trainer.stats();
    if (result.end != halftone::FitResult::End::caller) return true;
    fall_back(trainer, rules);
    return false;
  }

  /// Counts what the loss scale does; false where the rules have failed.
  bool looks_well(const halftone::Trainer& trainer) {
    skipped_ = trainer.updated() ? 0 : skipped_ + 1;
    const float scale = trainer.stats().loss_scale;
    if (scale != scale_) ++run_.scale_updates;
    scale_ = scale;
    return skipped_ < kFailed;
  }

  const RuleSet& next(const RuleSet& rules) const { return *(&rules + 1); }

  /// Leaves a checkpoint for the next rules to go on from.
  void fall_back(const halftone::Trainer& failed, const RuleSet& rules) {
    const auto culprit = failed.diagnose();
    const std::string why = rules.name + " failed, since " + std::to_string(kFailed) +
                            " steps in a row were skipped" +
                            (culprit ? ": " + culprit->text() : std::string());
    if (&rules == &task_.rules.back()) throw std::runtime_error("genome: " + why);
    run_.why_not_before = why;
    halftone::Trainer trainer =
        trainer_of(next(rules).artifact, device_, task_.length, batch_, plan_.seed);
    const auto resumed = trainer.resume(file(rules, ".safetensors"), {.other_rules = true});
    trainer.save(file(next(rules), ".safetensors"), {.notes = resumed.notes});
    std::fprintf(stderr, "genome: %s; %s goes on from step %lld\n", why.c_str(),
                 next(rules).name.c_str(), static_cast<long long>(resumed.steps));
  }

  [[nodiscard]] std::filesystem::path file(const RuleSet& rules, const char* ending) const {
    return file_of(plan_.folder, task_, plan_.fresh, rules, ending);
  }

  const Task& task_;
  const Plan& plan_;
  halftone::Device device_;
  std::int64_t batch_, steps_;
  int skipped_ = 0;  // steps in a row
  float scale_ = 1;
  Run run_;
};

}  // namespace

std::filesystem::path file_of(const std::filesystem::path& folder, const Task& task, bool fresh,
                              const RuleSet& rules, const char* ending) {
  return folder / (task.name + (fresh ? "_fresh_" : "_") + rules.name + ending);
}

const RuleSet* trained_rules(const std::filesystem::path& folder, const Task& task, bool fresh) {
  const RuleSet* last = nullptr;
  for (const RuleSet& rules : task.rules)
    if (std::filesystem::exists(file_of(folder, task, fresh, rules, ".safetensors"))) last = &rules;
  return last;
}

Run train(const Task& task, const halftone::Device& device, const Plan& plan) {
  return Training(task, device, plan).run();
}

// SPDX-License-Identifier: Apache-2.0
// Which stage a run is in, and what it takes there; knows the public trainer and the plans alone.
#include "halftone/stages.hpp"

#include <algorithm>
#include <charconv>

#include "halftone/error.hpp"
#include "halftone/run_log.hpp"
#include "program_plan.hpp"
#include "stage_memory.hpp"
#include "text.hpp"

namespace halftone {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 62;

std::int64_t count_steps(const std::vector<StageSteps>& stages) {
  std::int64_t steps = 0;
  for (const StageSteps& stage : stages) {
    if (stage.steps < 1) {
      throw Error({.operation = "make a schedule of stages",
                   .object = named("stage", stage.stage),
                   .cause = "lasts " + std::to_string(stage.steps) + " steps",
                   .hint = "give 1 or more, or leave it out"});
    }
    if (stage.steps > kMostSteps - steps) {
      throw Error({.operation = "make a schedule of stages",
                   .object = named("stage", stage.stage),
                   .cause = "makes it longer than 2^62 steps",
                   .hint = "give fewer; where no cycle follows, the last stage stays anyway"});
    }
    steps += stage.steps;
  }
  return steps;
}

/// The one of a step, which lies in the list or behind it.
const StageSteps& find(const std::vector<StageSteps>& stages, std::int64_t step) {
  for (const StageSteps& stage : stages) {
    if (step < stage.steps) return stage;
    step -= stage.steps;
  }
  return stages.back();
}

/// Of the first `steps` steps of the list, which lasts as long.
std::int64_t steps_in(const std::vector<StageSteps>& stages, const std::string& stage,
                      std::int64_t steps) {
  std::int64_t in = 0;
  for (const StageSteps& each : stages) {
    const std::int64_t here = std::min(each.steps, steps);
    if (each.stage == stage) in += here;
    steps -= here;
  }
  return in;
}

[[noreturn]] void refuse_ladder(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "make a ladder of stages",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

}  // namespace

StageSchedule::StageSchedule(std::vector<StageSteps> once, std::vector<StageSteps> cycle)
    : once_(std::move(once)), cycle_(std::move(cycle)) {
  once_steps_ = count_steps(once_);
  cycle_steps_ = count_steps(cycle_);
  if (!once_.empty() || !cycle_.empty()) return;
  throw Error({.operation = "make a schedule of stages",
               .object = "the schedule",
               .cause = "has no stage",
               .hint = "give it one, as {{\"warmup\", 500}}"});
}

const std::string& StageSchedule::at(std::int64_t step) const {
  if (step < 0) {
    throw Error({.operation = "find the stage of a step",
                 .object = "step " + std::to_string(step),
                 .cause = "comes before the first one",
                 .hint = "give 0 or more"});
  }
  if (step < once_steps_ || cycle_.empty()) return find(once_, step).stage;
  return find(cycle_, (step - once_steps_) % cycle_steps_).stage;
}

std::vector<std::string> StageSchedule::stages() const {
  std::vector<std::string> names;
  for (const std::vector<StageSteps>* part : {&once_, &cycle_})
    for (const StageSteps& steps : *part)
      if (std::ranges::find(names, steps.stage) == names.end()) names.push_back(steps.stage);
  return names;
}

double StageSchedule::share_of(const std::string& stage, std::int64_t steps) const {
  const std::vector<std::string> known = stages();
  if (std::ranges::find(known, stage) == known.end()) {
    throw Error({.operation = "tell the share of a stage",
                 .object = named("stage", stage),
                 .cause = "is none of the schedule's",
                 .hint = "name one of " + listed(known)});
  }
  if (steps < 1) return 0.0;
  const std::int64_t first = std::min(steps, once_steps_), left = steps - first;
  std::int64_t in = steps_in(once_, stage, first);
  if (cycle_.empty()) {
    if (once_.back().stage == stage) in += left;
  } else {
    in += left / cycle_steps_ * steps_in(cycle_, stage, cycle_steps_) +
          steps_in(cycle_, stage, left % cycle_steps_);
  }
  return static_cast<double>(in) / static_cast<double>(steps);
}

StageLadder::StageLadder(StageLadderOptions options) : options_(std::move(options)) {
  if (options_.stages.size() < 2)
    refuse_ladder("the list of stages", "has " + std::to_string(options_.stages.size()),
                  "give two or more, the last resort last");
  for (auto stage = options_.stages.begin(); stage != options_.stages.end(); ++stage) {
    if (std::find(options_.stages.begin(), stage, *stage) == stage) continue;
    refuse_ladder(named("stage", *stage), "occurs twice",
                  "name each once, since a ladder goes one way");
  }
  if (options_.window < 1)
    refuse_ladder("the window", "is of " + std::to_string(options_.window) + " steps",
                  "give 1 or more");
  if (!(options_.most_skipped >= 0 && options_.most_skipped < 1))
    refuse_ladder("the share of skipped steps", "is " + number_text(options_.most_skipped),
                  "give a number from 0 to below 1");
}

bool StageLadder::step(Trainer& trainer) {
  if (skipped_ < 0) {
    const std::vector<std::string> known = trainer.stages();
    for (const std::string& stage : options_.stages) {
      if (std::ranges::find(known, stage) != known.end()) continue;
      throw Error({.operation = "step down a ladder of stages",
                   .object = named("stage", stage),
                   .cause = "is none of the model's",
                   .hint = known.empty() ? "give HALFTONE_MODEL stages(...) with its name"
                                         : "the model's stages are " + listed(known)});
    }
    // What was skipped before is no matter, but this step is.
    const std::int64_t skipped = trainer.stats().skipped_steps;
    skipped_ = skipped - (trainer.updated() ? 0 : 1);
  }
  if (++steps_ < options_.window) return false;
  const Statistics statistics = trainer.stats();
  const std::int64_t skipped = statistics.skipped_steps;
  const std::int64_t of_window = skipped - skipped_;
  const double share = static_cast<double>(of_window) / static_cast<double>(options_.window);
  steps_ = 0;
  skipped_ = skipped;
  const std::string& stage = statistics.stage;
  const auto now = std::ranges::find(options_.stages, stage);
  if (now == options_.stages.end()) {
    throw Error({.operation = "step down a ladder of stages",
                 .object = named("stage", stage),
                 .cause = "is none of the ladder's, which are " + listed(options_.stages),
                 .hint = "enter one of these, or add it"});
  }
  if (share <= options_.most_skipped || std::next(now) == options_.stages.end()) return false;
  trainer.enter(*std::next(now));
  std::string counted = std::to_string(of_window) + " of " + std::to_string(options_.window) +
                        " steps were skipped, more than " + percent_text(options_.most_skipped);
  taken_ = {
      .step = statistics.steps, .from = stage, .to = *std::next(now), .why = std::move(counted)};
  return true;
}

void StageLadder::after_step(Trainer& trainer, RunLog* log) {
  if (step(trainer) && log != nullptr) log->switched(taken_);
}

std::string StageLadder::state() const {
  return std::to_string(steps_) + ' ' + std::to_string(skipped_);
}

void StageLadder::restore(std::string_view state) {
  std::int64_t steps = 0, skipped = 0;
  const char* const end = state.data() + state.size();
  const auto first = std::from_chars(state.data(), end, steps);
  const bool has_second = first.ec == std::errc() && first.ptr != end && *first.ptr == ' ';
  const auto second = std::from_chars(has_second ? first.ptr + 1 : end, end, skipped);
  if (!has_second || second.ec != std::errc() || second.ptr != end || steps < 0 ||
      steps >= options_.window || skipped < -1) {
    throw Error({.operation = "restore a ladder of stages",
                 .object = named("state", state),
                 .cause = "is none that state() gave",
                 .hint = "give the text as it was saved"});
  }
  steps_ = steps;
  skipped_ = skipped;
}

std::vector<StageMemory> plan_stages(const Artifact& artifact, const Device& device,
                                     const Setup& setup) {
  const ProgramPlan plan("plan_stages", artifact, device, "training", setup);
  std::vector<std::string> stages = plan.manifest().stages;
  if (stages.empty()) stages.emplace_back();
  std::vector<StageMemory> memory;
  for (const std::string& stage : stages) {
    const ArenaUse use = arena_use(plan.holds_in(stage) ? plan : plan.in_stage(stage));
    memory.push_back({.stage = stage, .kept = use.kept, .working = use.working, .host = use.host});
  }
  return memory;
}

}  // namespace halftone

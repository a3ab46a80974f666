// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <diffusion_bf16_model.hpp>
#include <diffusion_f16_model.hpp>
#include <diffusion_f32_model.hpp>
#include <halftone/fit.hpp>
#include <halftone/run_sinks.hpp>
#include <halftone/stages.hpp>
#include <optional>
#include <stdexcept>

#include "noise.hpp"
#include "pictures.hpp"
#include "sampling.hpp"

namespace {

constexpr const char *kLoaderNote = "loader", *kLadderNote = "ladder";
constexpr std::int64_t kLogEvery = 10;  // steps
constexpr double kMostSkipped = 0.9;    // of kFailed steps, so that all or all but one are

std::string note(const halftone::Notes& notes, const char* name, const Plan& plan) {
  const auto found = std::ranges::find(notes, name, &halftone::Notes::value_type::first);
  if (found == notes.end())
    throw std::runtime_error("diffusion: " + plan.checkpoint.string() +
                             " is no checkpoint of this program; name another file");
  return found->second;
}

/// A run: its parts, and what is decided between the steps.
class Training {
 public:
  Training(const RuleSet& rules, const halftone::Device& device, const Plan& plan)
      : plan_(plan),
        device_(device),
        rules_(rules),
        name_("diffusion_" + rules.name),
        trainer_(trainer_of(rules, device, plan.batch, plan.seed)),
        predictor_(predictor_of(rules, device, plan.batch)),
        batches_(clips_of(plan.training),
                 {.batch = plan.batch,
                  .seed = plan.seed,
                  .drop_last = true,
                  .transform = [](const auto& batch) { draw_levels(batch, Draws::every_epoch); }}),
        held_out_(clips_of(plan.held_out),
                  {.batch = plan.batch,
                   .seed = plan.seed,
                   .shuffle = false,
                   .transform = [](const auto& batch) { draw_levels(batch, Draws::once); }}) {
    if (!rules.stages.empty())
      ladder_.emplace(halftone::StageLadderOptions{
          .stages = rules.stages, .window = kFailed, .most_skipped = kMostSkipped});
    if (!plan.first_weights.empty()) trainer_.load_weights(plan.first_weights);
    if (!plan.checkpoint.empty() && std::filesystem::exists(plan.checkpoint)) go_on();
  }

  Run run() {
    begin_log(run_.first_step > 0 ? halftone::IfExists::append : halftone::IfExists::replace);
    halftone::Metrics held_out;
    for (std::int64_t step = run_.first_step; step < plan_.steps;) {
      const auto batch = batches_.next();
      if (!batch) continue;
      timed_step(*batch);
      const bool looks = ++step % plan_.look_every == 0 || step == plan_.steps;
      if (looks) held_out = look(step);
      log_->step(trainer_, looks ? held_out : halftone::Metrics{});
      keep_or_leave_stage();
      if (looks) save();
    }
    log_->finish(trainer_);
    trainer_.finish_saving();
    if (held_out.empty()) held_out = evaluate();
    run_.held_out_loss = held_out.front().value;
    run_.training_loss = trainer_.loss("loss");
    run_.rules = ladder_ ? trainer_.stage() : rules_.name;
    run_.statistics = trainer_.stats();
    return run_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void begin_log(halftone::IfExists existing) {
    log_.emplace(trainer_, halftone::RunLogOptions{.every = kLogEvery, .name = name_});
    if (plan_.progress)
      log_->add(halftone::sink_of_environment(stderr, halftone::LogChoice::progress,
                                              {.steps = plan_.steps}));
    if (!plan_.log.empty()) log_->add(halftone::json_lines(plan_.log, existing));
  }

  void timed_step(const halftone::Batch& batch) {
    const auto start = Clock::now();
    trainer_.step(batch.inputs);
    skipped_ = trainer_.updated() ? 0 : skipped_ + 1;
    run_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  }

  halftone::Metrics evaluate() {
    if (trainer_.stats().steps > trainer_.stats().skipped_steps)
      predictor_.copy_averages(trainer_);
    else
      predictor_.copy_parameters(trainer_);
    return halftone::evaluate(predictor_, held_out_);
  }

  halftone::Metrics look(std::int64_t step) {
    const halftone::Metrics held_out = evaluate();
    if (!plan_.weights.empty()) predictor_.save_weights(plan_.weights);
    if (plan_.pictures.empty()) return held_out;
    std::vector<float> clips(static_cast<std::size_t>(plan_.batch * kClip));
    sample(predictor_, clips, {.seed = plan_.seed});
    std::filesystem::create_directories(plan_.pictures);
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "_%06lld.png", static_cast<long long>(step));
    const std::filesystem::path file = plan_.pictures / (name_ + number.data());
    write_strips(file, clips);
    log_->picture({.step = step, .name = "samples", .file = file});
    return held_out;
  }

  void save() {
    if (plan_.checkpoint.empty()) return;
    halftone::Notes notes = {{kLoaderNote, batches_.cursor()}};
    if (ladder_) notes.push_back({kLadderNote, ladder_->state()});
    trainer_.save(plan_.checkpoint, {.background = true, .notes = notes});
  }

  /// From the checkpoint, in the stage that it was saved in.
  void go_on() {
    const halftone::Resumed resumed = trainer_.resume(plan_.checkpoint);
    if (ladder_) ladder_->restore(note(resumed.notes, kLadderNote, plan_));
    batches_.seek(note(resumed.notes, kLoaderNote, plan_));
    run_.first_step = resumed.steps;
    predict_in_stage();
  }

  void predict_in_stage() {
    if (ladder_) predictor_ = predictor_of(rules_, device_, plan_.batch, trainer_.stage());
  }

  /// After every step: goes on in the next stage where steps are skipped, and says why.
  void keep_or_leave_stage() {
    if (skipped_ == kFailed) {
      const auto culprit = trainer_.diagnose();
      culprit_ = culprit ? ": " + culprit->text() : std::string();
    }
    const std::string stage = trainer_.stage();
    if (ladder_) ladder_->after_step(trainer_, &*log_);
    if (trainer_.stage() != stage) return leave(ladder_->taken());
    if (skipped_ != kFailed || (ladder_ && stage != rules_.stages.back())) return;
    throw std::runtime_error("diffusion: " + (ladder_ ? stage : rules_.name) + " failed, since " +
                             std::to_string(kFailed) + " steps in a row were skipped" + culprit_);
  }

  void leave(const halftone::StageSwitch& taken) {
    run_.fell_back_at = taken.step;
    std::fprintf(stderr, "diffusion: %s failed and %s goes on from step %lld, since %s%s\n",
                 taken.from.c_str(), taken.to.c_str(), static_cast<long long>(taken.step),
                 taken.why.c_str(), culprit_.c_str());
    skipped_ = 0;
    culprit_.clear();
    predict_in_stage();
  }

  const Plan& plan_;
  halftone::Device device_;
  const RuleSet& rules_;
  std::string name_;
  halftone::Trainer trainer_;
  halftone::Predictor predictor_;
  halftone::Loader batches_, held_out_;
  std::optional<halftone::StageLadder> ladder_;
  std::optional<halftone::RunLog> log_;
  int skipped_ = 0;      // steps in a row
  std::string culprit_;  // of these
  Run run_;
};

/// "sm_86" of a GPU, also a simulated one; empty for a CPU.
std::string chip_of(const halftone::Device& device) {
  constexpr std::string_view kSimulated = "simulated:";
  if (device.name().starts_with(kSimulated)) return device.name().substr(kSimulated.size());
  const auto entries = halftone::Device::list();
  const auto found = std::ranges::find(entries, device.name(), &halftone::DeviceEntry::name);
  return found == entries.end() ? std::string() : found->chip;
}

}  // namespace

const std::vector<RuleSet>& rule_sets() {
  static const std::vector<RuleSet> all = {
      {"f32", models::diffusion_f32::artifact()},
      {"bf16", models::diffusion_bf16::artifact()},
      {"f16", models::diffusion_f16::artifact(), {"f16", "bf16"}}};
  return all;
}

const RuleSet& rule_set(std::string_view name) {
  const auto found = std::ranges::find(rule_sets(), name, &RuleSet::name);
  if (found == rule_sets().end())
    throw std::runtime_error("diffusion: there are no rules '" + std::string(name) +
                             "'; choose f32, bf16 or f16");
  return *found;
}

const RuleSet& rule_set_for(const halftone::Device& device) {
  return rule_set(chip_of(device) == "sm_75" ? "f16" : "bf16");
}

halftone::Trainer trainer_of(const RuleSet& rules, const halftone::Device& device,
                             std::int64_t clips, std::uint64_t seed) {
  const std::array bound = {halftone::Binding{"batch", clips}};
  return {rules.artifact, device, {.model = {}, .bindings = bound, .seed = seed}};
}

halftone::Predictor predictor_of(const RuleSet& rules, const halftone::Device& device,
                                 std::int64_t clips, std::string_view stage) {
  const std::array bound = {halftone::Binding{"batch", clips}};
  return {rules.artifact, device, {.model = {}, .bindings = bound, .stage = stage}};
}

Run train(const RuleSet& rules, const halftone::Device& device, const Plan& plan) {
  return Training(rules, device, plan).run();
}

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
#include <optional>
#include <stdexcept>

#include "noise.hpp"
#include "pictures.hpp"
#include "sampling.hpp"

namespace {

constexpr const char *kLoaderNote = "loader", *kRulesNote = "rules";
constexpr std::int64_t kLogEvery = 10;  // steps

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
        rules_(&rules),
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
      if (skipped_ == kFailed) fall_back();
      if (looks) save();
    }
    log_->finish(trainer_);
    trainer_.finish_saving();
    if (held_out.empty()) held_out = evaluate();
    run_.held_out_loss = held_out.front().value;
    run_.training_loss = trainer_.loss("loss");
    run_.rules = rules_->name;
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
    write_strips(plan_.pictures / (name_ + number.data()), clips);
    return held_out;
  }

  void save() {
    if (plan_.checkpoint.empty()) return;
    trainer_.save(plan_.checkpoint,
                  {.background = true,
                   .notes = {{kLoaderNote, batches_.cursor()}, {kRulesNote, rules_->name}}});
  }

  /// From the checkpoint, under the rules that it says.
  void go_on() {
    halftone::Resumed resumed = trainer_.resume(plan_.checkpoint, {.other_rules = true});
    if (const std::string rules = note(resumed.notes, kRulesNote, plan_); rules != rules_->name)
      use(rule_set(rules));
    batches_.seek(note(resumed.notes, kLoaderNote, plan_));
    run_.first_step = resumed.steps;
  }

  /// Goes on from the checkpoint under other rules.
  void use(const RuleSet& rules) {
    halftone::Trainer trainer = trainer_of(rules, device_, plan_.batch, plan_.seed);
    trainer.resume(plan_.checkpoint, {.other_rules = true});
    trainer_ = std::move(trainer);
    predictor_ = predictor_of(rules, device_, plan_.batch);
    rules_ = &rules;
  }

  void fall_back() {
    const auto culprit = trainer_.diagnose();
    const std::string why = std::to_string(kFailed) + " steps in a row were skipped" +
                            (culprit ? ": " + culprit->text() : std::string());
    if (rules_->fallback.empty() || plan_.checkpoint.empty())
      throw std::runtime_error("diffusion: " + rules_->name + " failed, since " + why);
    run_.fell_back_at = trainer_.stats().steps;
    std::fprintf(stderr, "diffusion: %s failed and %s goes on from step %lld, since %s\n",
                 rules_->name.c_str(), rules_->fallback.c_str(),
                 static_cast<long long>(run_.fell_back_at), why.c_str());
    save();
    trainer_.finish_saving();
    use(rule_set(rules_->fallback));
    skipped_ = 0;
    log_.reset();
    begin_log(halftone::IfExists::append);
  }

  const Plan& plan_;
  halftone::Device device_;
  const RuleSet* rules_;
  std::string name_;
  halftone::Trainer trainer_;
  halftone::Predictor predictor_;
  halftone::Loader batches_, held_out_;
  std::optional<halftone::RunLog> log_;
  int skipped_ = 0;  // steps in a row
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
  static const std::vector<RuleSet> all = {{"f32", models::diffusion_f32::artifact()},
                                           {"bf16", models::diffusion_bf16::artifact()},
                                           {"f16", models::diffusion_f16::artifact(), "bf16"}};
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
                                 std::int64_t clips) {
  const std::array bound = {halftone::Binding{"batch", clips}};
  return {rules.artifact, device, {.model = {}, .bindings = bound}};
}

Run train(const RuleSet& rules, const halftone::Device& device, const Plan& plan) {
  return Training(rules, device, plan).run();
}

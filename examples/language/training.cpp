// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <halftone/fit.hpp>
#include <halftone/run_sinks.hpp>
#include <language_bf16_decode_model.hpp>
#include <language_bf16_model.hpp>
#include <language_f16_decode_model.hpp>
#include <language_f16_model.hpp>
#include <language_f32_decode_model.hpp>
#include <language_f32_model.hpp>
#include <language_tf32_decode_model.hpp>
#include <language_tf32_model.hpp>
#include <stdexcept>

namespace {

constexpr const char* kLoaderNote = "loader";
constexpr std::int64_t kLogEvery = 10;  // steps

/// Of the embedding, of each block and of the last norm, without the loss scale that the step had.
halftone::Metrics gradient_norms(const halftone::Trainer& trainer, double loss_scale) {
  halftone::Metrics norms;
  for (const std::string& name : trainer.parameter_names()) {
    const auto end = name.starts_with("h/") ? name.find('/', 2) : name.find('.');
    const std::string part = "gradient/" + name.substr(0, end);
    if (norms.empty() || norms.back().name != part) norms.push_back({part, 0.0});
    for (const double value : trainer.gradient(name)) norms.back().value += value * value;
  }
  for (halftone::Metric& norm : norms) norm.value = std::sqrt(norm.value) / loss_scale;
  return norms;
}

/// A run: its parts, and what is decided between the steps.
class Training {
 public:
  Training(const RuleSet& rules, const halftone::Device& device, const Plan& plan)
      : plan_(plan),
        trainer_(trainer_of(rules, device, plan.sizes, plan.seed)),
        predictor_(predictor_of(rules, device, plan.sizes)),
        batches_(windows(plan.training, plan.sizes.window),
                 {.batch = plan.sizes.batch, .seed = plan.seed, .drop_last = true}),
        held_out_(windows(plan.held_out, plan.sizes.window),
                  {.batch = plan.sizes.batch, .shuffle = false}) {
    if (batches_.batches() == 0)
      throw std::runtime_error("language: " + plan.training.string() +
                               " has too few tokens for one batch; give a longer text, or a "
                               "smaller batch or window");
    if (!plan.checkpoint.empty() && std::filesystem::exists(plan.checkpoint)) resume();
  }

  Run run(const std::string& name) {
    halftone::RunLog log(trainer_, {.every = kLogEvery, .name = name, .layer_gradients = true});
    if (plan_.progress)
      log.add(halftone::sink_of_environment(stderr, halftone::LogChoice::progress,
                                            {.steps = plan_.steps}));
    if (!plan_.log.empty())
      log.add(halftone::json_lines(plan_.log, run_.first_step > 0 ? halftone::IfExists::append
                                                                  : halftone::IfExists::replace));
    halftone::Metrics held_out;
    for (std::int64_t step = run_.first_step; step < plan_.steps;) {
      const auto batch = batches_.next();
      if (!batch) continue;
      halftone::Metrics metrics = timed_step(*batch, ++step);
      const bool looks = step % plan_.look_every == 0 || step == plan_.steps;
      if (looks) held_out = look();
      if (looks) metrics.insert(metrics.begin(), held_out.begin(), held_out.end());
      log.step(trainer_, metrics);
      if (looks) save();
    }
    log.finish(trainer_);
    trainer_.finish_saving();
    if (held_out.empty()) held_out = look();
    run_.held_out_loss = held_out.front().value;
    run_.training_loss = trainer_.loss("loss");
    run_.statistics = trainer_.stats();
    return run_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// What the log is to have of it beside the losses.
  halftone::Metrics timed_step(const halftone::Batch& batch, std::int64_t step) {
    const bool shows = plan_.gradients && (step % kLogEvery == 0 || step == 1);
    const double loss_scale = shows ? static_cast<double>(trainer_.stats().loss_scale) : 1.0;
    const auto start = Clock::now();
    trainer_.step(batch.inputs);
    trainer_.wait();
    run_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    return shows ? gradient_norms(trainer_, loss_scale) : halftone::Metrics{};
  }

  halftone::Metrics look() {
    predictor_.copy_parameters(trainer_);
    return halftone::evaluate(predictor_, held_out_);
  }

  void save() {
    if (plan_.checkpoint.empty()) return;
    trainer_.save(plan_.checkpoint,
                  {.background = true, .notes = {{kLoaderNote, batches_.cursor()}}});
  }

  void resume() {
    const halftone::Resumed resumed = trainer_.resume(plan_.checkpoint);
    const auto note =
        std::ranges::find(resumed.notes, kLoaderNote, &halftone::Notes::value_type::first);
    if (note == resumed.notes.end())
      throw std::runtime_error("language: " + plan_.checkpoint.string() +
                               " is no checkpoint of this program; name another file");
    batches_.seek(note->second);
    run_.first_step = resumed.steps;
  }

  const Plan& plan_;
  halftone::Trainer trainer_;
  halftone::Predictor predictor_;
  halftone::Loader batches_, held_out_;
  Run run_;
};

std::array<halftone::Binding, 2> bindings(const Sizes& sizes) {
  return {{{"batch", sizes.batch}, {"time", sizes.window}}};
}

}  // namespace

const std::vector<RuleSet>& rule_sets() {
  static const std::vector<RuleSet> all = {
      {"f32", models::language_f32::artifact(), models::language_f32_decode::artifact()},
      {"bf16", models::language_bf16::artifact(), models::language_bf16_decode::artifact()},
      {"f16", models::language_f16::artifact(), models::language_f16_decode::artifact()},
      {"tf32", models::language_tf32::artifact(), models::language_tf32_decode::artifact()}};
  return all;
}

const RuleSet& rule_set(std::string_view name) {
  const auto found = std::ranges::find(rule_sets(), name, &RuleSet::name);
  if (found == rule_sets().end())
    throw std::runtime_error("language: there are no rules '" + std::string(name) +
                             "'; choose f32, bf16, f16 or tf32");
  return *found;
}

halftone::Trainer trainer_of(const RuleSet& rules, const halftone::Device& device,
                             const Sizes& sizes, std::uint64_t seed) {
  const auto bound = bindings(sizes);
  return {rules.artifact, device, {.model = {}, .bindings = bound, .seed = seed}};
}

halftone::Predictor predictor_of(const RuleSet& rules, const halftone::Device& device,
                                 const Sizes& sizes) {
  const auto bound = bindings(sizes);
  return {rules.artifact, device, {.model = {}, .bindings = bound}};
}

halftone::Dataset windows(const std::filesystem::path& tokens, std::int64_t window) {
  return halftone::Dataset::tokens(tokens, {.input = "token", .targets = "next", .length = window});
}

Run train(const RuleSet& rules, const halftone::Device& device, const Plan& plan) {
  return Training(rules, device, plan).run("language_" + rules.name);
}

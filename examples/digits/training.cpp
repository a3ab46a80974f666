// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <digits_bf16_model.hpp>
#include <digits_f16_model.hpp>
#include <digits_f32_model.hpp>
#include <digits_tf32_model.hpp>
#include <halftone/run_sinks.hpp>
#include <numbers>
#include <span>

namespace {

constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kDigits = 10;
constexpr std::int64_t kEntries = 440;  // of a log, about

/// Batches of augmented images, in a new order at every pass; the images that fill no batch wait
/// for the next pass.
class Batches {
 public:
  Batches(const Images& images, std::uint64_t seed) : images_(images), engine_(seed) {}

  const Images& next() {
    if (at_ + kBatch > static_cast<std::int64_t>(order_.size())) {
      order_ = shuffled(images_.count(), engine_);
      at_ = 0;
    }
    batch_.clear();
    for (const std::int64_t end = at_ + kBatch; at_ < end; ++at_) {
      const std::int64_t i = order_[static_cast<std::size_t>(at_)];
      add_augmented(batch_, images_.image(i), images_.digits[static_cast<std::size_t>(i)], engine_);
    }
    return batch_;
  }

 private:
  const Images& images_;
  std::mt19937_64 engine_;
  std::vector<std::int64_t> order_;
  std::int64_t at_ = 0;
  Images batch_;
};

/// The part of the images whose largest logit is the right one.
template <class Trainer, class Predictor>
double accuracy(const halftone::Device& device, const Trainer& trainer, const Images& images) {
  Predictor predictor(device, {.batch = images.count()});
  predictor.copy_parameters(trainer);
  const std::span<const float> logits = predictor.predict(images.pixels).logits;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < images.count(); ++i) {
    const auto row = logits.subspan(static_cast<std::size_t>(i * kDigits), kDigits);
    right +=
        std::ranges::max_element(row) - row.begin() == images.digits[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(images.count());
}

template <class Trainer, class Predictor>
Run train(const halftone::Device& device, const Split& data, const Plan& plan,
          const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  Trainer trainer(device, {.batch = kBatch, .seed = plan.seed});
  halftone::RunLog log(
      trainer, {.every = std::max<std::int64_t>(1, plan.steps / kEntries), .name = plan.name});
  if (!plan.log.empty()) log.add(halftone::json_lines(plan.log, halftone::IfExists::replace));
  Run run;
  Batches batches(data.training, plan.seed);
  const float peak = trainer.learning_rate();
  Clock::duration in_steps{};
  for (std::int64_t step = 0; step < plan.steps; ++step) {
    const double done = static_cast<double>(step) / static_cast<double>(plan.steps);
    trainer.set_learning_rate(peak *
                              static_cast<float>(0.5 * (1.0 + std::cos(std::numbers::pi * done))));
    const Images& batch = batches.next();
    const auto start = Clock::now();
    trainer.step(batch.pixels, batch.digits);
    trainer.wait();
    in_steps += Clock::now() - start;
    log.step(trainer);
    progress(step + 1, trainer.loss("error"));
  }
  run.accuracy = accuracy<Trainer, Predictor>(device, trainer, data.held_out);
  log.finish(trainer, {{"held-out accuracy", run.accuracy}});
  run.ms_per_step =
      std::chrono::duration<double, std::milli>(in_steps).count() / static_cast<double>(plan.steps);
  run.statistics = trainer.stats();
  return run;
}

}  // namespace

std::vector<RuleSet> rule_sets() {
  namespace m = models;
  return {
      {"f32", m::digits_f32::artifact(), train<m::digits_f32::Trainer, m::digits_f32::Predictor>},
      {"bf16", m::digits_bf16::artifact(),
       train<m::digits_bf16::Trainer, m::digits_bf16::Predictor>},
      {"f16", m::digits_f16::artifact(), train<m::digits_f16::Trainer, m::digits_f16::Predictor>},
      {"tf32", m::digits_tf32::artifact(),
       train<m::digits_tf32::Trainer, m::digits_tf32::Predictor>}};
}

// SPDX-License-Identifier: Apache-2.0
// When a run's values are looked at, and what of them is told.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <utility>

#include "halftone/error.hpp"
#include "halftone/value_statistics.hpp"
#include "text.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "sample values",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

double clock_seconds() {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now().time_since_epoch();
  return time.count();
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

ValueSample sample_values(const Trainer& trainer) {
  const auto start = std::chrono::steady_clock::now();
  const Statistics statistics = trainer.stats();
  ValueSample sample{
      .step = statistics.steps, .stage = statistics.stage, .loss_scale = statistics.loss_scale};
  trainer.inspect([&](const InspectedValue& value) {
    if (!value.before.empty()) sample.values.push_back(statistics_of(value));
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  sample.seconds = took.count();
  return sample;
}

ValueSampling::ValueSampling(const ValueSamplingOptions& options) : options_(options) {
  if (options.every < 0)
    refuse("every", "is " + std::to_string(options.every) + " steps", "give 0 or more");
  if (!(options.share_of_time >= 0 && options.share_of_time <= 1))
    refuse("share_of_time", "is " + number_text(options.share_of_time),
           "give a number from 0 to 1");
  if (options.every == 0 && options.share_of_time == 0)
    refuse("every", "and share_of_time are both 0",
           "give a number of steps, or a share of the time, as 0.02");
}

ValueSampling::Time ValueSampling::now() { return {clock_seconds(), processor_seconds()}; }

/// Looks again when half of the steps that will be too early are over.
bool ValueSampling::is_due() {
  if (options_.every > 0 && (calls_ - 1) % options_.every != 0) return false;
  if (!last_ || options_.share_of_time == 0) return true;
  if (calls_ < next_look_) return false;
  const double since = clock_seconds() - last_->clock, wait = seconds_to_wait(since);
  if (wait <= 0) return true;
  constexpr double kMostSteps = 1e15;
  const double steps = wait / since * static_cast<double>(calls_ - last_call_);
  next_look_ = calls_ + static_cast<std::int64_t>(std::min(steps / 2, kMostSteps));
  return false;
}

/// By the clock; the processor's time goes by that much faster at most as there are processors.
double ValueSampling::seconds_to_wait(double since) const {
  const auto missing = [&](double took, double passed) {
    return took / options_.share_of_time - took - passed;
  };
  const double of_clock = missing(took_.clock, since);
  if (of_clock > 0 || is_on_chip_) return of_clock;
  const double of_processor = missing(took_.processor, processor_seconds() - last_->processor);
  return of_processor / std::max(1u, std::thread::hardware_concurrency());
}

std::optional<ValueSample> ValueSampling::step(const Trainer& trainer) {
  ++calls_;
  if (!is_due()) return std::nullopt;
  const Time begin = now();
  ValueSample sample = sample_values(trainer);
  is_on_chip_ = trainer.stats().variant.starts_with("sm_");
  last_ = now();
  last_call_ = next_look_ = calls_;
  took_ = {last_->clock - begin.clock, last_->processor - begin.processor};
  return sample;
}

}  // namespace halftone

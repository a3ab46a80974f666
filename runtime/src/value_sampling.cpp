// SPDX-License-Identifier: Apache-2.0
// When a run's values are looked at, and what of them is told.
#include <string>
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

bool ValueSampling::is_due() const {
  if (options_.every > 0 && (calls_ - 1) % options_.every != 0) return false;
  if (!last_ || options_.share_of_time == 0) return true;
  const std::chrono::duration<double> since = Clock::now() - *last_;
  return last_seconds_ <= options_.share_of_time * (since.count() + last_seconds_);
}

std::optional<ValueSample> ValueSampling::step(const Trainer& trainer) {
  ++calls_;
  if (!is_due()) return std::nullopt;
  ValueSample sample = sample_values(trainer);
  last_ = Clock::now();
  last_seconds_ = sample.seconds;
  return sample;
}

}  // namespace halftone

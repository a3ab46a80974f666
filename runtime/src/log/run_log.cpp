// SPDX-License-Identifier: Apache-2.0
// When entries are made, and of what.
#include "halftone/run_log.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "../text.hpp"
#include "../utf8.hpp"
#include "layer_gradients.hpp"

namespace halftone {
namespace {

void require_utf8(const char* kind, std::string_view name) {
  std::string_view rest = name;
  while (!rest.empty() && utf8_length(rest) > 0) rest.remove_prefix(utf8_length(rest));
  if (rest.empty() && !name.empty()) return;
  throw Error({.operation = "log",
               .object = name.empty() ? std::string(kind) : named(kind, name),
               .cause = name.empty() ? "has no name" : "is no UTF-8",
               .hint = "give it a name in UTF-8"});
}

void require_natural(const char* option, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  throw Error({.operation = "log",
               .object = named("option", option),
               .cause = "is " + std::to_string(value),
               .hint = "give " + std::to_string(least) + " or more"});
}

std::int64_t size_of_batch(const RunFacts& facts) {
  const auto found =
      std::ranges::find(facts.sizes, "batch", &std::pair<std::string, std::int64_t>::first);
  return found == facts.sizes.end() ? 0 : found->second;
}

}  // namespace

RunLog::RunLog(const Trainer& trainer, const RunLogOptions& options)
    : facts_(facts_of(trainer)), every_(options.every), began_(Clock::now()) {
  require_natural("every", options.every, 1);
  require_natural("rows_per_step", options.rows_per_step, 0);
  if (!options.name.empty()) facts_.name = options.name;
  require_utf8("run", facts_.name);
  if (options.layer_gradients) facts_.gradient_layers = gradient_layers(facts_);
  rows_per_step_ = options.rows_per_step > 0 ? options.rows_per_step : size_of_batch(facts_);
  skipped_steps_ = facts_.first_skipped_steps;
  stage_ = trainer.stage();
  last_entry_ = began_;
}

RunLog& RunLog::add(std::unique_ptr<RunSink> sink) {
  if (!sink) return *this;
  sinks_.reserve(sinks_.size() + 1);  // what has begun is kept
  sink->begin(facts_);
  sinks_.push_back(std::move(sink));
  return *this;
}

void RunLog::step(const Trainer& trainer, const Metrics& metrics) {
  ++calls_;
  std::string stage = trainer.stage();
  const bool is_another = std::exchange(stage_, std::move(stage)) != stage_;
  if (calls_ == 1 || calls_ % every_ == 0 || is_another || !metrics.empty())
    log_entry(trainer, metrics);
}

void RunLog::values(const ValueSample& sample) {
  for (const auto& sink : sinks_) sink->values(sample);
}

void RunLog::switched(const StageSwitch& taken) {
  for (const auto& sink : sinks_) sink->switched(taken);
}

void RunLog::picture(const LogPicture& picture) {
  require_utf8("picture", picture.name);
  require_utf8("file of a picture", picture.file.string());
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(picture.file, unknown)) {
    throw Error({.operation = "log",
                 .object = named("picture", picture.name),
                 .cause = "has no file '" + picture.file.string() + "'",
                 .hint = "write the file first"});
  }
  for (const auto& sink : sinks_) sink->picture(picture);
}

void RunLog::finish(const Trainer& trainer, const Metrics& metrics) {
  if (is_finished_) return;
  if (calls_ > logged_ || !metrics.empty()) log_entry(trainer, metrics);
  is_finished_ = true;
  for (const auto& sink : sinks_) sink->end();
}

void RunLog::log_entry(const Trainer& trainer, const Metrics& metrics) {
  if (sinks_.empty()) return;
  for (const Metric& metric : metrics) require_utf8("metric", metric.name);
  Statistics statistics = trainer.stats();  // waits
  const Clock::time_point now = Clock::now();
  const auto seconds_since = [&](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  LogEntry entry;
  entry.step = statistics.steps;
  entry.steps = calls_ - logged_;
  entry.skipped_steps = statistics.skipped_steps;
  entry.skipped = statistics.skipped_steps - skipped_steps_;
  entry.losses = std::move(statistics.losses);
  entry.grad_norm = statistics.grad_norm;
  entry.loss_scale = statistics.loss_scale;
  entry.learning_rate = statistics.learning_rate;
  entry.peak_bytes = statistics.peak_bytes_measured;
  entry.seconds = seconds_since(began_);
  entry.time =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (entry.steps > 0) {
    const double seconds =
        std::max(seconds_since(last_entry_), 1e-9) / static_cast<double>(entry.steps);
    entry.ms_per_step = 1000 * seconds;
    if (rows_per_step_ > 0) entry.rows_per_second = static_cast<double>(rows_per_step_) / seconds;
  }
  entry.metrics = metrics;
  entry.stage = std::move(statistics.stage);
  if (!facts_.gradient_layers.empty())
    entry.layer_gradients = layer_gradients(trainer, facts_, statistics.grad_norm);
  skipped_steps_ = entry.skipped_steps;
  logged_ = calls_;
  last_entry_ = now;
  for (const auto& sink : sinks_) sink->write(entry);
}

}  // namespace halftone

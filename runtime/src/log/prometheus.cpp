// SPDX-License-Identifier: Apache-2.0
// The latest entry in Prometheus's text format, version 0.0.4 (exposition_formats.md).
#include <array>
#include <chrono>
#include <cmath>

#include "../files/replace_file.hpp"
#include "../text.hpp"
#include "halftone/run_sinks.hpp"
#include "worst_values.hpp"

namespace halftone {
namespace {

using Label = std::pair<std::string, std::string>;

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text;
}

std::string value_text(std::floating_point auto value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return number_text(value);
}

void require_label(const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const bool is_sound = !name.empty() && kLetters.find(name[0]) != kLetters.npos &&
                        !name.starts_with("__") &&
                        name.find_first_not_of(std::string(kLetters) + "0123456789") == name.npos;
  if (is_sound && name != "model" && name != "run" && name != "name") return;
  throw Error({.operation = "log",
               .object = named("label", name),
               .cause = is_sound ? "is one of ours" : "is no name of Prometheus",
               .hint = "give letters, digits and _, and none of model, run and name"});
}

class Exposition {
 public:
  explicit Exposition(std::string labels) : labels_(std::move(labels)) {}

  void add(const char* name, const char* type, const char* help) {
    name_ = std::string("halftone_") + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }
  void sample(std::floating_point auto value, const std::string& name = {}) {
    text_ += name_ + "{" + labels_ + (name.empty() ? "" : ",name=\"" + escaped(name) + "\"") +
             "} " + value_text(value) + "\n";
  }
  void add(const char* name, const char* type, const char* help, std::floating_point auto value) {
    add(name, type, help);
    sample(value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string labels_, name_, text_;
};

std::string text_of(const LogEntry& entry, const Metrics& metrics,
                    const std::optional<WorstValues>& worst, const std::string& labels) {
  Exposition text(labels);
  text.add("steps_total", "counter", "Updates asked for, skipped ones included.",
           static_cast<double>(entry.step));
  text.add("skipped_steps_total", "counter", "Updates that a gradient which is not finite stopped.",
           static_cast<double>(entry.skipped_steps));
  text.add("loss", "gauge", "A loss of the last logged step.");
  for (const Statistics::Loss& loss : entry.losses) text.sample(loss.value, loss.name);
  if (!metrics.empty()) text.add("metric", "gauge", "A metric of the program's own, the latest.");
  for (const Metric& metric : metrics) text.sample(metric.value, metric.name);
  text.add("gradient_norm", "gauge", "Of the last logged step, before clipping.", entry.grad_norm);
  text.add("loss_scale", "gauge", "Of the next step.", entry.loss_scale);
  text.add("learning_rate", "gauge", "Of the last step.", entry.learning_rate);
  text.add("peak_bytes", "gauge", "Device memory obtained.", static_cast<double>(entry.peak_bytes));
  if (entry.ms_per_step)
    text.add("step_seconds", "gauge", "From one step to the next.", *entry.ms_per_step / 1000);
  if (entry.rows_per_second)
    text.add("rows_per_second", "gauge", "Rows of input trained on.", *entry.rows_per_second);
  text.add("last_step_timestamp_seconds", "gauge", "When it was logged.", entry.time);
  if (worst) {
    text.add("most_overflowed", "gauge", "Largest share of a rounding's elements that overflowed.",
             worst->overflowed.figure);
    text.add("most_became_0", "gauge", "Likewise, of those that were not 0 before, that became 0.",
             worst->flushed.figure);
    text.add("greatest_rounding_error", "gauge", "Relative, of the latest sample's roundings.",
             worst->error.figure);
  }
  return text.text();
}

class Prometheus final : public RunSink {
 public:
  Prometheus(const std::filesystem::path& file, const PrometheusOptions& options)
      : file_(std::filesystem::absolute(file)), options_(options) {
    for (const Label& label : options.labels) require_label(label.first);
  }

  void begin(const RunFacts& facts) override {
    labels_ = "model=\"" + escaped(facts.model) + "\",run=\"" + escaped(facts.name) + "\"";
    for (const auto& [name, value] : options_.labels)
      labels_ += "," + name + "=\"" + escaped(value) + "\"";
  }

  void write(const LogEntry& entry) override {
    for (const Metric& metric : entry.metrics) keep(metric);
    const std::optional<LogEntry> before = std::exchange(latest_, entry);
    if (before && !entry.ms_per_step) {  // gauges do not vanish
      latest_->ms_per_step = before->ms_per_step;
      latest_->rows_per_second = before->rows_per_second;
    }
    const auto now = std::chrono::steady_clock::now();
    if (written_ && now - *written_ < options_.at_most_every) return;
    replace();
    written_ = now;
  }
  void values(const ValueSample& sample) override { worst_ = worst_of(sample); }
  void end() override { replace(); }

 private:
  void keep(const Metric& metric) {
    for (Metric& kept : metrics_) {
      if (kept.name == metric.name) return void(kept.value = metric.value);
    }
    metrics_.push_back(metric);
  }

  void replace() {
    if (!latest_) return;
    const std::string text = text_of(*latest_, metrics_, worst_, labels_);
    const std::array<std::string_view, 1> parts = {text};
    replace_file(system_file_calls(), "log", file_, parts, 0);
  }

  std::filesystem::path file_;
  PrometheusOptions options_;
  std::string labels_;
  Metrics metrics_;  ///< the latest of each name
  std::optional<LogEntry> latest_;
  std::optional<WorstValues> worst_;  ///< of the latest sample
  std::optional<std::chrono::steady_clock::time_point> written_;
};

}  // namespace

std::unique_ptr<RunSink> prometheus_text(const std::filesystem::path& file,
                                         const PrometheusOptions& options) {
  return std::make_unique<Prometheus>(file, options);
}

}  // namespace halftone

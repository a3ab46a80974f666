// SPDX-License-Identifier: Apache-2.0
// Entries for people: one line that is drawn again and again on a terminal, lines elsewhere.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "../settings.hpp"
#include "../text.hpp"
#include "halftone/run_sinks.hpp"
#include "halftone/stages.hpp"
#include "worst_values.hpp"

namespace halftone {
namespace {

/// With so many digits that matter: "0.03125" is 0.0313.
std::string short_number(double value, int digits = 3) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  std::array<char, 32> text{};
  const bool is_plain = value == 0 || (std::abs(value) >= 1e-4 && std::abs(value) < 1e6);
  if (is_plain && std::abs(value) >= 1000) digits = 6;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, digits);
  return {text.data(), end.ptr};
}

/// 532, 16.2k, 3.40M
std::string with_prefix(double value) {
  constexpr std::array kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  std::array<char, 32> text{};
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, decimals);
  return std::string(text.data(), end.ptr) + kPrefixes[prefix];
}

std::string two_digits(std::int64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

/// 8 s, 2 min 05 s, 3 h 20 min
std::string duration_text(double duration) {
  const auto seconds = static_cast<std::int64_t>(std::min(std::ceil(duration), 1e9));
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600)
    return std::to_string(seconds / 60) + " min " + two_digits(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + two_digits(seconds / 60 % 60) + " min";
}

std::string losses_text(const LogEntry& entry) {
  std::string text;
  for (const Statistics::Loss& loss : entry.losses)
    text += "  " + loss.name + " " + short_number(loss.value);
  return text;
}

std::string metrics_text(const Metrics& metrics) {
  std::string text;
  for (const Metric& metric : metrics)
    text += "  " + metric.name + " " + short_number(metric.value);
  return text;
}

std::string switch_text(const StageSwitch& taken) {
  return "step " + std::to_string(taken.step) + "  stage " + taken.from + " -> " + taken.to + ": " +
         taken.why;
}

void print(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

class Progress final : public RunSink {
 public:
  Progress(std::FILE* stream, const ProgressOptions& options)
      : stream_(stream), options_(options), is_terminal_(isatty(fileno(stream)) == 1) {}

  void begin(const RunFacts& facts) override {
    name_ = facts.name;
    has_loss_scale_ = facts.loss_scale != "none";
    first_step_ = facts.first_step;
    first_skipped_ = facts.first_skipped_steps;
  }

  void write(const LogEntry& entry) override {
    latest_ = entry;
    is_shown_ = false;
    const auto now = std::chrono::steady_clock::now();
    const auto wait = is_terminal_ ? options_.redraw_every : options_.line_every;
    if (shown_ && now - *shown_ < wait) return;
    shown_ = now;
    show();
  }

  void switched(const StageSwitch& taken) override {
    const std::string text = name_ + "  " + switch_text(taken) + "\n";
    print(stream_, is_terminal_ ? "\r\033[K" + text : text);
  }

  void end() override {
    if (latest_ && !is_shown_) show();
    if (is_terminal_ && latest_) print(stream_, "\n");
  }

 private:
  void show() {
    is_shown_ = true;
    const std::string text = line();
    print(stream_, is_terminal_ ? "\r" + text.substr(0, columns()) + "\033[K" : text + "\n");
  }

  [[nodiscard]] std::string line() const {
    const LogEntry& entry = *latest_;
    std::string text = name_ + "  step " + std::to_string(entry.step);
    if (options_.steps > 0) {
      text += " of " + std::to_string(options_.steps) + "  " +
              std::to_string(100 * std::min(entry.step, options_.steps) / options_.steps) + " %";
    }
    text += losses_text(entry) + metrics_text(entry.metrics);
    if (has_loss_scale_) text += "  scale " + short_number(entry.loss_scale);
    const std::int64_t skipped = entry.skipped_steps - first_skipped_;
    if (skipped > 0) text += "  skipped " + std::to_string(skipped);
    const auto done = static_cast<double>(entry.step - first_step_);
    if (done <= 0 || entry.seconds <= 0) return text;
    text += "  " + with_prefix(done / entry.seconds) + " steps/s";
    if (entry.rows_per_second) text += "  " + with_prefix(*entry.rows_per_second) + " rows/s";
    const auto left = static_cast<double>(options_.steps - entry.step);
    if (left > 0) text += "  " + duration_text(left * entry.seconds / done) + " left";
    return text;
  }

  /// A longer line would wrap, and be drawn below itself.
  [[nodiscard]] std::size_t columns() const {
    winsize size{};
    const bool is_known = ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return is_known ? size.ws_col - 1u : 79u;
  }

  std::FILE* stream_;
  ProgressOptions options_;
  bool is_terminal_, has_loss_scale_ = false, is_shown_ = false;
  std::string name_;
  std::int64_t first_step_ = 0, first_skipped_ = 0;
  std::optional<LogEntry> latest_;
  std::optional<std::chrono::steady_clock::time_point> shown_;
};

class StepLines final : public RunSink {
 public:
  explicit StepLines(std::FILE* stream) : stream_(stream) {}

  void begin(const RunFacts& facts) override {
    print(stream_, facts.name + "  model " + facts.model + "  " + facts.hardware + "\n");
  }
  void write(const LogEntry& entry) override {
    std::string text = "step " + std::to_string(entry.step) + losses_text(entry) +
                       metrics_text(entry.metrics) + "  norm " + short_number(entry.grad_norm) +
                       "  scale " + short_number(entry.loss_scale) + "  rate " +
                       short_number(entry.learning_rate);
    if (entry.skipped > 0) text += "  skipped " + std::to_string(entry.skipped);
    if (entry.ms_per_step) text += "  " + short_number(*entry.ms_per_step) + " ms/step";
    if (entry.rows_per_second) text += "  " + with_prefix(*entry.rows_per_second) + " rows/s";
    print(stream_, text + "\n");
  }
  void values(const ValueSample& sample) override {
    const WorstValues worst = worst_of(sample);
    std::string text = "step " + std::to_string(sample.step) + "  " +
                       std::to_string(sample.values.size()) + " roundings";
    const auto add = [&](const char* what, const WorstValue& of, const std::string& figure) {
      if (!of.value.empty())
        text += std::string("  ") + what + " " + figure + " (" + of.value + ")";
    };
    add("overflowed", worst.overflowed, percent_text(worst.overflowed.figure));
    add("became 0", worst.flushed, percent_text(worst.flushed.figure));
    add("error", worst.error, short_number(worst.error.figure));
    print(stream_, text + "\n");
  }
  void switched(const StageSwitch& taken) override { print(stream_, switch_text(taken) + "\n"); }

 private:
  std::FILE* stream_;
};

}  // namespace

std::unique_ptr<RunSink> progress(std::FILE* stream, const ProgressOptions& options) {
  return std::make_unique<Progress>(stream, options);
}

std::unique_ptr<RunSink> step_lines(std::FILE* stream) {
  return std::make_unique<StepLines>(stream);
}

std::unique_ptr<RunSink> sink_of_environment(std::FILE* stream, LogChoice otherwise,
                                             const ProgressOptions& options) {
  const std::string word = log_setting();
  const LogChoice choice = word.empty()         ? otherwise
                           : word == "progress" ? LogChoice::progress
                           : word == "steps"    ? LogChoice::steps
                                                : LogChoice::off;
  if (choice == LogChoice::off) return nullptr;
  return choice == LogChoice::steps ? step_lines(stream) : progress(stream, options);
}

}  // namespace halftone

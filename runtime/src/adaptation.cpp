// SPDX-License-Identifier: Apache-2.0
// Which move a run makes at the end of a window, and why; knows the public trainer alone.
#include "halftone/adaptation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "glob.hpp"
#include "halftone/error.hpp"
#include "halftone/run_log.hpp"
#include "text.hpp"

namespace halftone {
namespace {

constexpr const char* kAllLayers = "**";

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "adapt stages",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

std::string name_of(const StageMove& move) {
  return "the move from '" + move.from + "' to '" + move.to + "'";
}

bool asks_for_values(const StageMove& move) {
  return move.most_overflowed < 1 || move.most_flushed < 1 || std::isfinite(move.most_error);
}

/// Skipped steps of some layers, which a diagnosis tells apart from others.
bool asks_for_blame(const StageMove& move) {
  return move.most_skipped < 1 && move.layers != kAllLayers;
}

bool is_of(const StageMove& move, std::string_view name) {
  return layer_matches(move.layers, name);
}

bool asks_for_noise(const StageMove& move) { return move.least_noise > 0 || move.most_noise < 1; }

void check(const StageMove& move) {
  if (move.from == move.to) refuse(name_of(move), "goes nowhere", "name two stages");
  const std::pair<const char*, double> shares[] = {{"most_skipped", move.most_skipped},
                                                   {"most_overflowed", move.most_overflowed},
                                                   {"most_flushed", move.most_flushed},
                                                   {"least_noise", move.least_noise},
                                                   {"most_noise", move.most_noise}};
  for (const auto& [name, share] : shares) {
    if (share >= 0 && share <= 1) continue;
    refuse(name_of(move), std::string("states ") + name + " as " + number_text(share),
           "give a share from 0 to 1");
  }
  if (!(move.most_error >= 0))
    refuse(name_of(move), "states most_error as " + number_text(move.most_error),
           "give a number that is not negative");
  if (move.windows < 1)
    refuse(name_of(move), "is of " + std::to_string(move.windows) + " windows", "give 1 or more");
  if (!asks_for_values(move) && !asks_for_noise(move) && move.most_skipped >= 1)
    refuse(name_of(move), "has no limit, so that it is never made",
           "state most_skipped, most_overflowed, most_flushed, most_error, least_noise or "
           "most_noise");
}

/// "gradient of fc1 (input_gradient) in f16"
std::string name_of(const ValueStatistics& value) {
  const std::string pass = value.op == "parameter" ? "" : " (" + value.pass + ")";
  return value.role + " of " + value.layer + pass + " in " + value.format;
}

/// The layer of what was the first that is not finite; of a rounding that by whose name rules
/// select it.
std::string layer_of(const Trainer& trainer, const NonFinite& found) {
  std::string layer = found.layer;
  if (found.format.empty() || found.op == "parameter") return layer;
  bool is_known = false;
  trainer.inspect([&](const InspectedValue& value) {
    if (is_known || value.before.empty()) return;
    is_known = std::ranges::any_of(value.values, [](float each) { return !std::isfinite(each); });
    if (is_known) layer = value.layer;
  });
  return layer;
}

/// Says so where nothing that the stage computes is of the move's layers.
void check_layers(const Trainer& trainer, const StageMove& move) {
  bool is_any = false;
  trainer.inspect(
      [&](const InspectedValue& value) { is_any = is_any || is_of(move, value.layer); });
  if (is_any) return;
  refuse(
      name_of(move),
      "is about layers '" + move.layers + "', of which stage '" + move.from + "' computes no value",
      "name others");
}

}  // namespace

Adaptation::Adaptation(AdaptationOptions options) : options_(std::move(options)) {
  if (options_.moves.empty())
    refuse("the list of moves", "is empty", "give one or more, or train without it");
  if (options_.window < 1)
    refuse("the window", "is of " + std::to_string(options_.window) + " steps", "give 1 or more");
  for (const StageMove& move : options_.moves) {
    check(move);
    progress_.push_back({.noise = GradientNoise(move.layers)});
    if (!asks_for_noise(move)) continue;
    if (options_.noise_steps < 2 || options_.noise_steps > options_.window)
      refuse("the noise of gradients",
             "is measured over " + std::to_string(options_.noise_steps) + " steps of a window of " +
                 std::to_string(options_.window),
             "give 2 or more, and no more than the window's");
  }
}

bool Adaptation::asks_for_values(const std::string& stage) const {
  return std::ranges::any_of(options_.moves, [&](const StageMove& move) {
    return move.from == stage && halftone::asks_for_values(move);
  });
}

void Adaptation::begin(const Trainer& trainer) {
  const std::vector<std::string> known = trainer.stages();
  for (const StageMove& move : options_.moves) {
    for (const std::string& stage : {move.from, move.to}) {
      if (std::ranges::find(known, stage) != known.end()) continue;
      refuse(name_of(move), "names stage '" + stage + "', which is none of the model's",
             known.empty() ? "give HALFTONE_MODEL stages(...) with its name"
                           : "the model's stages are " + listed(known));
    }
  }
  // What was skipped before is no matter, but this step is.
  skipped_ = trainer.stats().skipped_steps - (trainer.updated() ? 0 : 1);
}

/// Counts a skipped step for the moves whose layers it was skipped for.
void Adaptation::blame(const Trainer& trainer) {
  const std::string stage = trainer.stage();
  const auto asks = [&](const StageMove& move) {
    return move.from == stage && asks_for_blame(move);
  };
  if (std::ranges::none_of(options_.moves, asks) || trainer.updated()) return;
  const std::optional<NonFinite> found = trainer.diagnose();
  if (!found) return;
  const std::string layer = layer_of(trainer, *found);
  for (std::size_t i = 0; i < options_.moves.size(); ++i)
    if (asks(options_.moves[i]) && is_of(options_.moves[i], layer)) ++progress_[i].blamed;
}

/// At the end of a window: adds the step's gradients for the moves that ask how noisy they are.
void Adaptation::measure_noise(const Trainer& trainer) {
  if (options_.window - steps_ >= options_.noise_steps) return;
  const std::string stage = trainer.stage();
  for (std::size_t i = 0; i < options_.moves.size(); ++i) {
    const StageMove& move = options_.moves[i];
    if (move.from == stage && asks_for_noise(move)) progress_[i].noise.add(trainer);
  }
}

/// The first limit that was exceeded, in words; empty where none was.
std::string Adaptation::why(const StageMove& move, std::int64_t skipped,
                            const std::optional<double>& noise,
                            const std::optional<ValueSample>& sample) const {
  const double share = static_cast<double>(skipped) / static_cast<double>(options_.window);
  if (share > move.most_skipped) {
    const std::string of = move.layers == kAllLayers ? "" : " for values of '" + move.layers + "'";
    return std::to_string(skipped) + " of " + std::to_string(options_.window) +
           " steps were skipped" + of + ", more than " + percent_text(move.most_skipped);
  }
  if (noise && (*noise < move.least_noise || *noise > move.most_noise)) {
    const bool is_less = *noise < move.least_noise;
    return "of the gradients' squares of '" + move.layers + "' " + percent_text(*noise) +
           " are noise of their batches, " + (is_less ? "less than " : "more than ") +
           percent_text(is_less ? move.least_noise : move.most_noise);
  }
  if (!halftone::asks_for_values(move) || !sample) return {};
  bool is_any = false;
  for (const ValueStatistics& value : sample->values) {
    if (!is_of(move, value.layer)) continue;
    is_any = true;
    const auto exceeds = [&](double share, double most, const char* what) {
      return share > most ? name_of(value) + ": " + percent_text(share) + what + ", more than " +
                                percent_text(most)
                          : std::string();
    };
    std::string found = exceeds(value.overflowed_share(), move.most_overflowed, " overflowed");
    if (found.empty())
      found = exceeds(value.flushed_share(), move.most_flushed, " of what was not 0 became 0");
    if (found.empty() && value.error > move.most_error)
      found = name_of(value) + ": an error of " + percent_text(value.error) + ", more than " +
              percent_text(move.most_error);
    if (!found.empty()) return found;
  }
  if (is_any) return {};
  refuse(
      name_of(move),
      "is about layers '" + move.layers + "', of which stage '" + move.from + "' rounds no value",
      "name others, or leave its limits on values out");
}

std::optional<AdaptationWindow> Adaptation::step(Trainer& trainer) {
  if (skipped_ < 0) begin(trainer);
  blame(trainer);
  ++steps_;
  measure_noise(trainer);
  if (steps_ < options_.window) return std::nullopt;
  const Statistics statistics = trainer.stats();
  const std::int64_t skipped = statistics.skipped_steps - skipped_;
  AdaptationWindow window;
  if (asks_for_values(statistics.stage)) window.sample = sample_values(trainer);
  const StageMove* made = nullptr;
  for (std::size_t i = 0; i < options_.moves.size(); ++i) {
    const StageMove& move = options_.moves[i];
    Progress& progress = progress_[i];
    const std::int64_t blamed = asks_for_blame(move) ? progress.blamed : skipped;
    if (move.from == statistics.stage && skipped > 0 && blamed == 0) check_layers(trainer, move);
    const std::optional<double>& noise = window.noise.emplace_back(progress.noise.share());
    std::string exceeded =
        move.from == statistics.stage ? why(move, blamed, noise, window.sample) : std::string();
    progress.blamed = 0;
    progress.windows = exceeded.empty() ? 0 : progress.windows + 1;
    progress.noise.clear();
    if (made != nullptr || progress.windows < move.windows) continue;
    made = &move;
    window.taken = {
        .step = statistics.steps, .from = move.from, .to = move.to, .why = std::move(exceeded)};
  }
  steps_ = 0;
  skipped_ = statistics.skipped_steps;
  if (made != nullptr) {
    trainer.enter(made->to);
    for (Progress& each : progress_) each.windows = 0;
  }
  return window;
}

void Adaptation::after_step(Trainer& trainer, RunLog* log) {
  const std::optional<AdaptationWindow> window = step(trainer);
  if (!window || log == nullptr) return;
  if (window->sample) log->values(*window->sample);
  if (window->taken) log->switched(*window->taken);
}

std::string Adaptation::state() const {
  std::string text = std::to_string(steps_) + ' ' + std::to_string(skipped_);
  for (const Progress& each : progress_)
    text += ' ' + std::to_string(each.blamed) + ' ' + std::to_string(each.windows);
  for (std::size_t i = 0; i < progress_.size(); ++i)
    if (asks_for_noise(options_.moves[i])) text += ';' + progress_[i].noise.state();
  return text;
}

void Adaptation::restore(std::string_view state) {
  std::string_view noises = state.substr(std::min(state.find(';'), state.size()));
  std::vector<GradientNoise> read;
  bool is_sound = true;
  for (std::size_t i = 0; i < progress_.size(); ++i) {
    read.push_back(progress_[i].noise);
    if (!asks_for_noise(options_.moves[i])) continue;
    is_sound = is_sound && noises.starts_with(';');
    if (!is_sound) break;
    const std::size_t end = std::min(noises.find(';', 1), noises.size());
    is_sound = read.back().restore(noises.substr(1, end - 1));
    noises.remove_prefix(end);
  }
  is_sound = is_sound && noises.empty();
  std::vector<std::int64_t> numbers;
  const char* at = state.data();
  const char* const end = at + std::min(state.find(';'), state.size());
  while (at != end) {
    std::int64_t& number = numbers.emplace_back();
    const auto [behind, fault] = std::from_chars(at, end, number);
    const bool is_apart = behind != end && *behind == ' ' && behind + 1 != end;
    if (fault != std::errc() || (behind != end && !is_apart)) {
      numbers.clear();
      break;
    }
    at = behind == end ? end : behind + 1;
  }
  const auto is_negative = [](std::int64_t number) { return number < 0; };
  if (!is_sound || numbers.size() != 2 + 2 * progress_.size() || numbers[0] < 0 ||
      numbers[0] >= options_.window || numbers[1] < -1 ||
      std::any_of(numbers.begin() + 2, numbers.end(), is_negative)) {
    throw Error({.operation = "restore an adaptation",
                 .object = "state " + shown(state),
                 .cause = "is none that state() gave with as many moves",
                 .hint = "give the text as it was saved, and the same options"});
  }
  steps_ = numbers[0];
  skipped_ = numbers[1];
  for (std::size_t i = 0; i < progress_.size(); ++i)
    progress_[i] = {
        .blamed = numbers[2 + 2 * i], .windows = numbers[3 + 2 * i], .noise = std::move(read[i])};
}

}  // namespace halftone

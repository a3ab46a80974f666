// SPDX-License-Identifier: Apache-2.0
// Knows the public trainer alone.
#include "halftone/gradient_noise.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "glob.hpp"
#include "halftone/error.hpp"
#include "halftone/run_log.hpp"
#include "text.hpp"

namespace halftone {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// Adds elements `place`, `place` + 1, ... to the sums that they belong to: of 64 bits seven
/// elements take nine each.
void add_to_sums(std::span<const float> values, std::uint64_t place, std::span<double> sums) {
  std::uint64_t bits = mixed(place / 7) >> place % 7 * 9;
  for (const float value : values) {
    const auto each = static_cast<double>(value);
    sums[bits & 255] += (bits & 256) == 0 ? each : -each;
    bits = ++place % 7 == 0 ? mixed(place / 7) : bits >> 9;
  }
}

double sum_of_squares(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

/// The number that `text` begins with, which is taken from it with the space behind it.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return true;
  const bool is_apart = text.front() == ' ' && text.size() > 1;
  text.remove_prefix(1);
  return is_apart;
}

}  // namespace

void GradientNoise::add(const Trainer& trainer) {
  if (all_.empty()) {
    all_ = facts_of(trainer).trained;
    const auto is_mine = [&](const std::string& name) { return layer_matches(layers_, name); };
    if (std::ranges::none_of(all_, is_mine)) {
      all_.clear();
      throw Error({.operation = "measure the noise of gradients",
                   .object = "layers '" + layers_ + "'",
                   .cause = "have no trained parameter",
                   .hint = "name others"});
    }
  }
  if (!trainer.updated()) return;
  std::array<double, kSums> sums{};
  double all = 0;
  std::uint64_t place = 0;
  for (const std::string& name : all_) {
    const std::span<const float> values = trainer.gradient(name);
    all += sum_of_squares(values);
    if (!layer_matches(layers_, name)) continue;
    add_to_sums(values, place, sums);
    place += values.size();
  }
  // All have one factor, the loss scale times the number of micro-batches, which the norm is
  // without.
  const double factor = all > 0 ? trainer.stats().grad_norm / std::sqrt(all) : 1;
  for (std::size_t i = 0; i < kSums; ++i) {
    sums[i] *= factor;
    sums_[i] += sums[i];
  }
  squares_ += sum_of_squares(sums);
  ++steps_;
}

void GradientNoise::clear() {
  sums_ = {};
  squares_ = 0.0;
  steps_ = 0;
}

std::optional<double> GradientNoise::share() const {
  if (steps_ < 2 || !(squares_ > 0)) return std::nullopt;
  const auto steps = static_cast<double>(steps_);
  const double signal = sum_of_squares(sums_) / (steps * squares_);
  return std::clamp(steps / (steps - 1) * (1 - signal), 0.0, 1.0);
}

std::string GradientNoise::state() const {
  std::string text = std::to_string(steps_);
  if (steps_ == 0) return text;
  text += ' ' + number_text(squares_);
  for (const double sum : sums_) text += ' ' + number_text(sum);
  return text;
}

bool GradientNoise::restore(std::string_view state) {
  GradientNoise read(layers_);
  bool is_sound = take(state, read.steps_) && read.steps_ >= 0;
  if (is_sound && read.steps_ > 0) {
    is_sound = take(state, read.squares_);
    for (double& sum : read.sums_) is_sound = is_sound && take(state, sum) && std::isfinite(sum);
    is_sound = is_sound && std::isfinite(read.squares_) && read.squares_ >= 0;
  }
  if (!is_sound || !state.empty()) return false;
  read.all_ = std::move(all_);
  *this = std::move(read);
  return true;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "trials.hpp"

#include <algorithm>
#include <cmath>

#include "../text.hpp"
#include "difference.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

using Outcome = BisectTrial::Outcome;

/// How many seeds are looked at before a variant is left unclear: each time twice as many.
std::vector<std::size_t> looks_of(const BisectOptions& options) {
  std::vector<std::size_t> looks = {options.seeds};
  while (looks.back() < options.most_seeds)
    looks.push_back(std::min(2 * looks.back(), options.most_seeds));
  return looks;
}

}  // namespace

double least_difference(const BisectOptions& options, double reference_loss) {
  return options.least * std::abs(reference_loss);
}

Trial* Trials::find_or_add(const std::string& name, RuleList rules) {
  const auto found = std::ranges::find_if(
      trials_, [&](const std::unique_ptr<Trial>& trial) { return trial->rules == rules; });
  if (found != trials_.end()) return found->get();
  if (trials_.size() >= options_.most_variants) return nullptr;
  Trial& trial = *trials_.emplace_back(std::make_unique<Trial>());
  trial.name = name;
  trial.refusal = variants_.refusal(rules);
  trial.rules = std::move(rules);
  if (!trial.refusal.empty()) trial.outcome = Outcome::refused;
  return &trial;
}

void Trials::train(Trial& trial, std::uint64_t first, std::size_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    if (trial.losses.contains(seed)) continue;
    VariantRun run = variants_.run(trial.rules, seed);
    trial.losses[seed] = run.loss;
    if (seed != options_.first_seed) continue;
    trial.curve = std::move(run.curve);
    trial.values = std::move(run.values);
  }
}

Difference Trials::compare(Trial& trial, Trial& other, std::uint64_t first, std::size_t count,
                           double confidence) {
  train(other, first, count);
  train(trial, first, count);
  std::vector<double> losses, others;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    losses.push_back(trial.losses[seed]);
    others.push_back(other.losses[seed]);
  }
  return difference_of(losses, others, confidence);
}

void Trials::judge(Trial& trial, Trial& reference, double bound) {
  if (trial.outcome != Outcome::unclear || trial.worse_by.seeds > 0) return;
  const std::vector<std::size_t> looks = looks_of(options_);
  const double confidence = 1 - (1 - options_.confidence) / static_cast<double>(looks.size());
  for (const std::size_t seeds : looks) {
    trial.worse_by = compare(trial, reference, options_.first_seed, seeds, confidence);
    const double least = least_difference(options_, mean_loss(reference));
    const bool is_worse = trial.worse_by.failed > 0 || trial.worse_by.low > least;
    const bool is_as_good = !is_worse && trial.worse_by.high <= std::max(bound, least);
    if (!is_worse && !is_as_good) continue;
    trial.outcome = is_worse ? Outcome::worse : Outcome::as_good;
    break;
  }
}

double Trials::mean_loss(const Trial& trial) const {
  double sum = 0.0;
  std::size_t count = 0;
  for (const auto& [seed, loss] : trial.losses) {
    if (seed >= options_.first_seed + options_.most_seeds || !std::isfinite(loss)) continue;
    sum += loss;
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

double Trials::deviation(const Trial& trial) const {
  const double mean = mean_loss(trial);
  double squares = 0.0;
  std::size_t count = 0;
  for (const auto& [seed, loss] : trial.losses) {
    if (seed >= options_.first_seed + options_.most_seeds || !std::isfinite(loss)) continue;
    squares += (loss - mean) * (loss - mean);
    ++count;
  }
  return count < 2 ? 0.0 : std::sqrt(squares / static_cast<double>(count - 1));
}

}  // namespace halftone

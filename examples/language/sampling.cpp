// SPDX-License-Identifier: Apache-2.0
#include "sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace {

/// The least length of a beginning of `weights` whose sum reaches `share` of the whole.
std::size_t least_beginning(std::span<const double> weights, double share) {
  const double enough = share * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((sum += weights[i]) >= enough) return i + 1;
  return weights.size();
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options) : options_(options), draws_(options.seed, 0, 0) {
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    throw std::runtime_error("language: the temperature is no number from 0 on; try 0.8");
  if (options.top_k < 0)
    throw std::runtime_error("language: top-k is negative; give a number of tokens, or 0 for all");
  if (!(options.top_p > 0 && options.top_p <= 1))
    throw std::runtime_error("language: top-p is not above 0 and at most 1; try 0.95");
}

halftone::Token Sampler::next(std::span<const float> logits) {
  if (!std::ranges::all_of(logits, [](float value) { return std::isfinite(value); }))
    throw std::runtime_error(
        "language: a logit is not finite; write with another checkpoint, or other rules");
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto logit = [&](halftone::Token token) { return logits[static_cast<std::size_t>(token)]; };
  // Equal logits in the order of the tokens, so that no library decides.
  std::ranges::sort(order_, [&](halftone::Token a, halftone::Token b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  });
  if (options_.temperature == 0) return order_.front();
  if (options_.top_k > 0)
    order_.resize(std::min(order_.size(), static_cast<std::size_t>(options_.top_k)));
  const float most = logit(order_.front());
  weights_.clear();
  for (const halftone::Token token : order_)
    weights_.push_back(std::exp(static_cast<double>(logit(token) - most) / options_.temperature));
  weights_.resize(least_beginning(weights_, options_.top_p));
  return order_[least_beginning(weights_, static_cast<double>(draws_.uniform())) - 1];
}

Successors::Successors(halftone::Predictor& predictor, std::int64_t time)
    : predictor_(predictor), window_(static_cast<std::size_t>(time)) {}

std::span<const float> Successors::of(std::span<const halftone::Token> text) {
  const auto seen = text.last(std::min(text.size(), window_.size()));
  // What stands behind the text is seen by nothing in front of it: attention is causal.
  std::ranges::copy(seen, window_.begin());
  predictor_.predict(std::array{halftone::NamedValues{"token", std::span<const int>(window_)}});
  const std::span<const float> logits = predictor_.output("logits");
  const std::size_t tokens = logits.size() / window_.size();
  return logits.subspan((seen.size() - 1) * tokens, tokens);
}

void continue_text(std::vector<halftone::Token>& text, std::int64_t count, Successors& successors,
                   Sampler& sampler, const std::function<void(halftone::Token)>& take) {
  for (std::int64_t i = 0; i < count; ++i) {
    text.push_back(sampler.next(successors.of(text)));
    take(text.back());
  }
}

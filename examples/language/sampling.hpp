// SPDX-License-Identifier: Apache-2.0
// Text from a model: which token comes next, and again. Successors is what a generator that keeps
// keys and values may take the place of; Sampler stays as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <halftone/loader.hpp>
#include <halftone/predictor.hpp>
#include <halftone/tokenizer.hpp>
#include <span>
#include <vector>

struct SamplingOptions {
  double temperature = 0.8;  ///< logits are divided by it; 0 takes the likeliest token
  std::int64_t top_k = 0;    ///< of the likeliest tokens alone, so many; 0: all
  double top_p = 0.95;       ///< and of these the fewest whose probabilities reach it together
  std::uint64_t seed = 1;
};

/// Draws tokens: the same ones for the same seed, options and logits.
class Sampler {
 public:
  /// Throws std::runtime_error on options that make no sense.
  explicit Sampler(const SamplingOptions& options);

  /// Throws std::runtime_error where a logit is not finite.
  [[nodiscard]] halftone::Token next(std::span<const float> logits);

 private:
  SamplingOptions options_;
  halftone::RowDraws draws_;
  std::vector<halftone::Token> order_;
  std::vector<double> weights_;
};

/// Logits of the successor of a text's last token, by a pass over the last `time` tokens.
class Successors {
 public:
  /// The predictor was made for a batch of 1 and `time` tokens, and must stay.
  Successors(halftone::Predictor& predictor, std::int64_t time);

  /// One for each token that the model knows; valid until the next call. Of at least one token.
  [[nodiscard]] std::span<const float> of(std::span<const halftone::Token> text);

 private:
  halftone::Predictor& predictor_;
  std::vector<halftone::Token> window_;
};

/// Adds `count` tokens to the text, one after another, and gives each to `take`.
void continue_text(std::vector<halftone::Token>& text, std::int64_t count, Successors& successors,
                   Sampler& sampler, const std::function<void(halftone::Token)>& take);

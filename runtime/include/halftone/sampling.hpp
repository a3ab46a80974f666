// SPDX-License-Identifier: Apache-2.0
// The choice of the next token from a model's logits: G1 to G6 of docs/spec/generation.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halftone {

/// What is kept of the distribution, applied in this order. As they stand they keep all of it.
struct Sampling {
  double temperature = 1.0;  ///< logits are divided by it; 0 is greedy: the likeliest token (G1)
  std::int64_t top_k = 0;    ///< the k likeliest tokens and those as likely as the last; 0: all
  double top_p = 1.0;        ///< the fewest likeliest tokens that have at least so much together
  double min_p = 0.0;        ///< those at least so likely as this part of the likeliest
  std::uint64_t seed = 0;    ///< of the draws; the same seed gives the same tokens everywhere

  bool operator==(const Sampling&) const = default;
};

/// A token that may come next.
struct Candidate {
  std::int32_t token = 0;
  double probability = 0.0;  ///< among those that are kept
};

/// Throws Error when a number is none that it may be, naming it. `operation` opens the sentence.
void check(const Sampling& sampling, const char* operation);

/// What is kept of the logits of all tokens, ascending by token. Throws Error where a logit is NaN
/// or +infinity, or all are -infinity.
[[nodiscard]] std::vector<Candidate> candidates(std::span<const float> logits,
                                                const Sampling& sampling);

/// One of the candidates: draw `index` of sequence `sequence` (G6). A pure function of all that it
/// is given.
[[nodiscard]] std::int32_t sample(std::span<const float> logits, const Sampling& sampling,
                                  std::uint64_t index, std::uint32_t sequence = 0);

}  // namespace halftone

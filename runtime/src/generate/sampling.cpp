// SPDX-License-Identifier: Apache-2.0
#include "halftone/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../philox.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

/// G7
double exp64(double x) {
  if (x < -745.0) return 0.0;
  constexpr std::array<double, 14> kInverseFactorials = [] {
    std::array<double, 14> terms{};
    double factorial = 1.0;  // exact up to 18!
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i > 0) factorial *= static_cast<double>(i);
      terms[i] = 1.0 / factorial;
    }
    return terms;
  }();
  const double k = std::rint(x * 0x1.71547652b82fep+0);
  const double r = std::fma(-k, 0x1.abc9e3b39803fp-56, std::fma(-k, 0x1.62e42fefa39efp-1, x));
  double sum = kInverseFactorials.back();
  for (std::size_t i = kInverseFactorials.size() - 1; i-- > 0;) {
    sum = std::fma(sum, r, kInverseFactorials[i]);
  }
  return std::ldexp(sum, static_cast<int>(k));
}

[[noreturn]] void refuse(const char* operation, std::string cause, std::string hint) {
  throw Error({.operation = operation,
               .object = "sampling",
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

/// G2
float largest_of(std::span<const float> logits) {
  float largest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity()) {
      throw Error(
          {.operation = "sample",
           .object = "the logit of token " + std::to_string(i),
           .cause = std::isnan(logits[i]) ? "is no number" : "is infinite",
           .hint = "look for what overflowed in the model, as diagnose() does in training"});
    }
    largest = std::max(largest, logits[i]);
  }
  if (std::isfinite(largest)) return largest;
  throw Error({.operation = "sample",
               .object = "the logits",
               .cause = logits.empty() ? "are none" : "are all -infinity",
               .hint = "leave at least one token possible"});
}

/// A candidate's probability is its weight until the end.
using Weights = std::vector<Candidate>;

/// G3
float least_of_top(std::span<const float> logits, std::int64_t top_k) {
  const auto count = static_cast<std::size_t>(top_k);
  if (top_k == 0 || count >= logits.size()) return -std::numeric_limits<float>::infinity();
  std::vector<float> sorted(logits.begin(), logits.end());
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(sorted, last, std::greater());
  return *last;
}

/// G4
void keep_top_p(Weights& kept, double top_p) {
  if (top_p >= 1.0) return;
  std::ranges::sort(kept, [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  });
  double all = 0.0, before = 0.0;
  for (const Candidate& candidate : kept) all += candidate.probability;
  std::size_t count = 0;
  for (; count < kept.size() && (count == 0 || before < top_p * all); ++count) {
    before += kept[count].probability;
  }
  kept.resize(count);
  std::ranges::sort(kept, {}, &Candidate::token);
}

Weights weights_of(std::span<const float> logits, const Sampling& sampling) {
  const float largest = largest_of(logits);
  if (sampling.temperature == 0.0) {  // G1
    const auto first = std::ranges::find(logits, largest) - logits.begin();
    return {{static_cast<std::int32_t>(first), 1.0}};
  }
  const float least = least_of_top(logits, sampling.top_k);
  Weights kept;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] < least) continue;
    const double below = static_cast<double>(logits[i]) - static_cast<double>(largest);
    kept.push_back({static_cast<std::int32_t>(i), exp64(below / sampling.temperature)});
  }
  keep_top_p(kept, sampling.top_p);
  std::erase_if(kept, [&](const Candidate& candidate) {  // G5; the largest weight is 1
    return candidate.probability < sampling.min_p;
  });
  return kept;
}

double sum_of(const Weights& weights) {
  double sum = 0.0;
  for (const Candidate& candidate : weights) sum += candidate.probability;
  return sum;
}

/// G6
double uniform(std::uint64_t seed, std::uint64_t index, std::uint32_t sequence) {
  constexpr std::uint32_t kDomain = 0x746f6b65;
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const PhiloxCounter words =
      philox4x32({low(index), low(index >> 32), sequence, kDomain}, {low(seed), low(seed >> 32)});
  const std::uint64_t bits = (std::uint64_t{words[0]} << 32) | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

void check(const Sampling& sampling, const char* operation) {
  const auto is = [](const char* name, double value) {
    return std::string(name) + " is " + number_text(value);
  };
  if (!(sampling.temperature >= 0.0 && std::isfinite(sampling.temperature))) {
    refuse(operation, is("temperature", sampling.temperature),
           "give a finite one that is not negative; 0 takes the likeliest token");
  }
  if (sampling.top_k < 0) {
    refuse(operation, "top_k is " + std::to_string(sampling.top_k),
           "give the number of tokens to keep, or 0 for all");
  }
  if (!(sampling.top_p > 0.0 && sampling.top_p <= 1.0)) {
    refuse(operation, is("top_p", sampling.top_p), "give one above 0 and up to 1, which keeps all");
  }
  if (!(sampling.min_p >= 0.0 && sampling.min_p <= 1.0)) {
    refuse(operation, is("min_p", sampling.min_p), "give one from 0, which keeps all, to 1");
  }
}

std::vector<Candidate> candidates(std::span<const float> logits, const Sampling& sampling) {
  check(sampling, "candidates");
  Weights kept = weights_of(logits, sampling);
  const double sum = sum_of(kept);
  for (Candidate& candidate : kept) candidate.probability /= sum;
  return kept;
}

std::int32_t sample(std::span<const float> logits, const Sampling& sampling, std::uint64_t index,
                    std::uint32_t sequence) {
  check(sampling, "sample");
  const Weights kept = weights_of(logits, sampling);
  if (sampling.temperature == 0.0) return kept.front().token;
  const double wanted = uniform(sampling.seed, index, sequence) * sum_of(kept);
  double sum = 0.0;
  std::int32_t last = kept.front().token;
  for (const Candidate& candidate : kept) {
    sum += candidate.probability;
    if (sum > wanted) return candidate.token;
    if (candidate.probability > 0.0) last = candidate.token;
  }
  return last;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// G1 to G7 of docs/spec/generation.md, by distributions that are known in closed form.
#include "halftone/sampling.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "halftone/error.hpp"
#include "philox.hpp"

using namespace halftone;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Whose distribution is `probabilities`, but for what f32 loses of a logarithm: relative to a
/// probability p at most |log p| 2^-24, below 3e-7 for those used here.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}
constexpr double kLost = 1e-6;

std::vector<std::int32_t> tokens_of(const std::vector<Candidate>& candidates) {
  std::vector<std::int32_t> tokens;
  for (const Candidate& candidate : candidates) tokens.push_back(candidate.token);
  return tokens;
}
std::vector<std::int32_t> kept(const std::vector<float>& logits, const Sampling& sampling) {
  return tokens_of(candidates(logits, sampling));
}
using Tokens = std::vector<std::int32_t>;

std::string refusal(const std::vector<float>& logits, const Sampling& sampling) {
  try {
    (void)sample(logits, sampling, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::vector<double> kFive = {0.1, 0.4, 0.05, 0.3, 0.15};

}  // namespace

TEST_CASE("a temperature of 0 takes the likeliest token, of equal ones the first") {
  const Sampling greedy{.temperature = 0.0};
  CHECK(sample(logits_of(kFive), greedy, 0) == 1);
  CHECK(sample(std::vector<float>{1, 3, 2, 3}, greedy, 17) == 1);
  CHECK(sample(std::vector<float>{-kInfinity, -1e30f}, greedy, 0) == 1);
  CHECK(kept({0, 2, 2}, greedy) == Tokens{1});
}

TEST_CASE("without options the distribution is softmax, with a temperature its power") {
  const auto all = candidates(logits_of(kFive), {});
  REQUIRE(all.size() == kFive.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(std::abs(all[i].probability - kFive[i]) < kLost);
  }
  // p^(1/t): at t = 0.5 squares, whose sum is 0.01 + 0.16 + 0.0025 + 0.09 + 0.0225 = 0.285.
  const auto cool = candidates(logits_of(kFive), {.temperature = 0.5});
  for (std::size_t i = 0; i < cool.size(); ++i) {
    CHECK(std::abs(cool[i].probability - kFive[i] * kFive[i] / 0.285) < 2 * kLost);
  }
  CHECK(kept({0, -kInfinity, 1}, {}) == Tokens{0, 1, 2});
  CHECK(candidates(std::vector<float>{0, -kInfinity, 1}, {})[1].probability == 0.0);
}

TEST_CASE("weights are exponentials to a few units in the last place") {
  // Three operations of half a unit each lie between weight and probability.
  for (double x = 0.0; x < 700.0; x += 0.37) {
    const auto logit = static_cast<float>(-x);
    const auto two = candidates(std::vector<float>{0.0f, logit}, {});
    const double ratio = two[1].probability / two[0].probability;
    const double expected = std::exp(static_cast<double>(logit));
    CHECK(std::abs(ratio - expected) <= 4 * 0x1p-52 * expected);
  }
}

TEST_CASE("top k keeps k tokens, and those that are as likely as the last of them") {
  CHECK(kept(logits_of(kFive), {.top_k = 1}) == Tokens{1});
  CHECK(kept(logits_of(kFive), {.top_k = 3}) == Tokens{1, 3, 4});
  CHECK(kept(logits_of(kFive), {.top_k = 5}).size() == 5);
  CHECK(kept(logits_of(kFive), {.top_k = 500}).size() == 5);
  CHECK(kept({2, 1, 2, 1, 0}, {.top_k = 3}) == Tokens{0, 1, 2, 3});
  const auto two = candidates(logits_of(kFive), {.top_k = 2});
  CHECK(std::abs(two[0].probability - 0.4 / 0.7) < 2 * kLost);
}

TEST_CASE("top p keeps the fewest likeliest tokens that have at least so much together") {
  // Descending: 0.4, 0.7, 0.85, 0.95, 1.
  CHECK(kept(logits_of(kFive), {.top_p = 0.01}) == Tokens{1});
  CHECK(kept(logits_of(kFive), {.top_p = 0.39}) == Tokens{1});
  CHECK(kept(logits_of(kFive), {.top_p = 0.41}) == Tokens{1, 3});
  CHECK(kept(logits_of(kFive), {.top_p = 0.84}) == Tokens{1, 3, 4});
  CHECK(kept(logits_of(kFive), {.top_p = 0.96}).size() == 5);
  // Equal weights are exact, and so is the boundary: two of four are half.
  const std::vector<float> equal(4, 0.25f);
  CHECK(kept(equal, {.top_p = 0.25}) == Tokens{0});
  CHECK(kept(equal, {.top_p = 0.5}) == Tokens{0, 1});
  CHECK(kept(equal, {.top_p = std::nextafter(0.5, 1.0)}) == Tokens{0, 1, 2});
  // Of what top k leaves: 0.4 / 0.7 alone is more than 0.57.
  CHECK(kept(logits_of(kFive), {.top_k = 2, .top_p = 0.57}) == Tokens{1});
  CHECK(kept(logits_of(kFive), {.top_p = 0.57}) == Tokens{1, 3});
}

TEST_CASE("min p keeps what has a part of the likeliest token's probability") {
  CHECK(kept(logits_of(kFive), {.min_p = 0.24}) == Tokens{0, 1, 3, 4});
  CHECK(kept(logits_of(kFive), {.min_p = 0.26}) == Tokens{1, 3, 4});
  CHECK(kept(logits_of(kFive), {.min_p = 1.0}) == Tokens{1});
  CHECK(kept({1, 1, 0}, {.min_p = 1.0}) == Tokens{0, 1});
}

TEST_CASE("a draw is the word of Philox that its seed, number and sequence name") {
  const std::vector<float> equal(8, -3.0f);
  for (std::uint64_t index : {0ull, 1ull, 77ull, 0x1234567890ull}) {
    for (std::uint32_t sequence : {0u, 5u}) {
      constexpr std::uint64_t kSeed = 0xfedcba9876543210;
      const auto words = philox4x32({static_cast<std::uint32_t>(index),
                                     static_cast<std::uint32_t>(index >> 32), sequence, 0x746f6b65},
                                    {0x76543210, 0xfedcba98});
      // Of eight equal weights the token is the first three bits of the draw.
      CHECK(sample(equal, {.seed = kSeed}, index, sequence) ==
            static_cast<std::int32_t>(words[0] >> 29));
    }
  }
}

TEST_CASE("draws have the distribution of the candidates") {
  // Chi-squared of k categories exceeds these with a probability of 1e-6: k = 5, 4 degrees of
  // freedom, 33.38; k = 3, 2 degrees, -2 ln(1e-6) = 27.63.
  struct Case {
    Sampling sampling;
    double bound;
  };
  constexpr int kDraws = 40000;
  const std::vector<float> logits = logits_of(kFive);
  for (const Case& c : {Case{{.seed = 1}, 33.38}, Case{{.top_k = 3, .seed = 2}, 27.63},
                        Case{{.temperature = 2.0, .seed = 3}, 33.38}}) {
    CAPTURE(c.sampling.seed);
    std::vector<int> counts(logits.size());
    for (int i = 0; i < kDraws; ++i) {
      ++counts[static_cast<std::size_t>(sample(logits, c.sampling, static_cast<std::uint64_t>(i)))];
    }
    double chi = 0.0, total = 0.0;
    for (const Candidate& candidate : candidates(logits, c.sampling)) {
      const double expected = candidate.probability * kDraws;
      const double seen = counts[static_cast<std::size_t>(candidate.token)];
      chi += (seen - expected) * (seen - expected) / expected;
      total += seen;
    }
    CHECK(total == kDraws);  // nothing but candidates
    CHECK(chi < c.bound);
  }
}

TEST_CASE("what is no distribution is refused in one sentence") {
  CHECK(refusal({1, kNan}, {}) ==
        "sample: the logit of token 1 is no number; look for what overflowed in the model, as "
        "diagnose() does in training");
  CHECK(refusal({kInfinity, 1}, {}).find("the logit of token 0 is infinite") != std::string::npos);
  CHECK(refusal({-kInfinity, -kInfinity}, {}).find("are all -infinity") != std::string::npos);
  CHECK(refusal({}, {}).find("the logits are none") != std::string::npos);
  const std::vector<float> sound{1, 2};
  CHECK(refusal(sound, {.temperature = -1}).find("temperature is -1") != std::string::npos);
  CHECK(refusal(sound, {.temperature = kNan}).find("temperature is nan") != std::string::npos);
  CHECK(refusal(sound, {.top_k = -2}).find("top_k is -2") != std::string::npos);
  CHECK(refusal(sound, {.top_p = 0}).find("top_p is 0") != std::string::npos);
  CHECK(refusal(sound, {.top_p = 1.5}).find("top_p is 1.5") != std::string::npos);
  CHECK(refusal(sound, {.min_p = -0.5}).find("min_p is -0.5") != std::string::npos);
}

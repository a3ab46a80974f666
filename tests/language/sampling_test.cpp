// SPDX-License-Identifier: Apache-2.0
// What the example draws. Expected shares are those of the definition: probabilities are the
// softmax of logits / temperature, of the tokens that top-k and then top-p leave.
#include "sampling.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace {

/// Tokens 0 to 4 of probabilities 4/16, 1/16, 8/16, 1/16 and 2/16.
const std::vector<float> kLogits = {std::log(4.0f), std::log(1.0f), std::log(8.0f), std::log(1.0f),
                                    std::log(2.0f)};
constexpr int kDraws = 20'000;

std::map<int, int> counts(const SamplingOptions& options) {
  Sampler sampler(options);
  std::map<int, int> drawn;
  for (int i = 0; i < kDraws; ++i) ++drawn[sampler.next(kLogits)];
  return drawn;
}

/// Within five deviations of a binomial.
void check_shares(std::map<int, int> drawn, const std::map<int, double>& shares) {
  CHECK(drawn.size() == shares.size());
  for (const auto& [token, share] : shares) {
    CAPTURE(token);
    CHECK(std::abs(drawn[token] - kDraws * share) <= 5 * std::sqrt(kDraws * share * (1 - share)));
  }
}

std::string message(const SamplingOptions& options) {
  try {
    (void)Sampler(options);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("tokens are drawn by their probabilities") {
  check_shares(counts({.temperature = 1, .top_p = 1}),
               {{0, 4 / 16.0}, {1, 1 / 16.0}, {2, 8 / 16.0}, {3, 1 / 16.0}, {4, 2 / 16.0}});
}

TEST_CASE("a temperature of a half squares the ratios of probabilities") {
  check_shares(counts({.temperature = 0.5, .top_p = 1}),
               {{0, 16 / 86.0}, {1, 1 / 86.0}, {2, 64 / 86.0}, {3, 1 / 86.0}, {4, 4 / 86.0}});
}

TEST_CASE("a temperature of 0 takes the likeliest token, of equal ones the first") {
  CHECK(counts({.temperature = 0}) == std::map<int, int>{{2, kDraws}});
  CHECK(Sampler({.temperature = 0}).next(std::vector<float>{1.0f, 3.0f, 3.0f}) == 1);
}

TEST_CASE("top-k leaves the likeliest tokens, of equal ones the first") {
  check_shares(counts({.temperature = 1, .top_k = 2, .top_p = 1}), {{0, 4 / 12.0}, {2, 8 / 12.0}});
  check_shares(counts({.temperature = 1, .top_k = 4, .top_p = 1}),
               {{0, 4 / 15.0}, {1, 1 / 15.0}, {2, 8 / 15.0}, {4, 2 / 15.0}});
  CHECK(counts({.temperature = 1, .top_k = 9, .top_p = 1}).size() == 5);
}

TEST_CASE("top-p leaves the fewest tokens that reach it, of what top-k left") {
  check_shares(counts({.temperature = 1, .top_p = 0.74}), {{0, 4 / 12.0}, {2, 8 / 12.0}});
  check_shares(counts({.temperature = 1, .top_p = 0.76}),
               {{0, 4 / 14.0}, {2, 8 / 14.0}, {4, 2 / 14.0}});
  // 8/12 of what two tokens have is enough.
  check_shares(counts({.temperature = 1, .top_k = 2, .top_p = 0.6}), {{2, 1.0}});
}

TEST_CASE("a seed repeats its tokens, another draws others") {
  const auto drawn = [](std::uint64_t seed) {
    Sampler sampler({.seed = seed});
    std::vector<halftone::Token> tokens;
    for (int i = 0; i < 40; ++i) tokens.push_back(sampler.next(kLogits));
    return tokens;
  };
  CHECK(drawn(7) == drawn(7));
  CHECK(drawn(7) != drawn(8));
}

TEST_CASE("options that make no sense are refused") {
  CHECK(message({.temperature = -1}) ==
        "language: the temperature is no number from 0 on; try 0.8");
  CHECK(message({.temperature = std::nan("")}) == message({.temperature = -1}));
  CHECK(message({.top_k = -1}) ==
        "language: top-k is negative; give a number of tokens, or 0 for all");
  CHECK(message({.top_p = 0}) == "language: top-p is not above 0 and at most 1; try 0.95");
  CHECK(message({.top_p = 1.5}) == message({.top_p = 0}));
  CHECK(message({}).empty());
}

TEST_CASE("logits that are not finite are refused") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {infinity, -infinity, std::nanf("")}) {
    CHECK_THROWS_WITH((void)Sampler({}).next(std::vector<float>{1.0f, value}),
                      "language: a logit is not finite; write with another checkpoint, or other "
                      "rules");
  }
}

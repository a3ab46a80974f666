// SPDX-License-Identifier: Apache-2.0
// Variants whose losses are made up: a known function of their rules, and noise of rules and seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bisect/search.hpp"

namespace halftone::tests {

class MadeUpVariants : public Variants {
 public:
  std::function<double(const RuleList&)> harm = [](const RuleList&) { return 0.0; };
  std::function<std::string(const RuleList&)> refuses = [](const RuleList&) {
    return std::string();
  };
  std::vector<std::string> layer_names = {};
  double base = 1.0;
  double of_seed = 0.2;   ///< deviation of what all variants of a seed share
  double of_rules = 0.0;  ///< deviation of what each has for itself
  std::uint64_t world = 1;
  int runs = 0;
  std::map<RuleList, int> made = {};

  [[nodiscard]] std::string refusal(const RuleList& rules) override {
    ++made[rules];
    return refuses(rules);
  }

  [[nodiscard]] VariantRun run(const RuleList& rules, std::uint64_t seed) override {
    ++runs;
    std::string all;
    for (const std::string& rule : rules) all += rule + "\n";
    const double shared = of_seed * normal(world * 1'000'003 + seed);
    const double own = of_rules * normal(std::hash<std::string>()(all) ^ (world << 20) ^ seed);
    return base + shared + own + harm(rules);
  }

  [[nodiscard]] std::vector<std::string> layers(const RuleList&, std::size_t) override {
    return layer_names;
  }

 private:
  static double normal(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return std::normal_distribution<double>()(random);
  }
};

inline bool has_rule(const RuleList& rules, const std::string& rule) {
  for (const std::string& each : rules)
    if (each == rule) return true;
  return false;
}

}  // namespace halftone::tests

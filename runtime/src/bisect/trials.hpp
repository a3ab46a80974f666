// SPDX-License-Identifier: Apache-2.0
// Variants that were trained, with their losses, and how they compare with the reference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "search.hpp"

namespace halftone {

struct Trial {
  std::string name;
  RuleList rules;  ///< those of the reference among them
  std::string refusal;
  std::map<std::uint64_t, double> losses;  ///< by seed
  std::vector<LossPoint> curve;            ///< of the first seed
  std::vector<ValueStatistics> values;     ///< likewise
  BisectTrial::Outcome outcome = BisectTrial::Outcome::unclear;
  Difference worse_by;
};

/// Each is trained once for every seed, whatever name it is asked for by.
class Trials {
 public:
  Trials(const BisectOptions& options, Variants& variants)
      : options_(options), variants_(variants) {}

  /// Null where there are as many variants as there may be, and this would be another.
  [[nodiscard]] Trial* find_or_add(const std::string& name, RuleList rules);

  /// What as_good means of a variant: at most so much of the loss may be left of the damage.
  void judge(Trial& trial, Trial& reference, double bound);

  /// `trial` against `other` on seeds [first, first + count), for which both are trained.
  [[nodiscard]] Difference compare(Trial& trial, Trial& other, std::uint64_t first,
                                   std::size_t count, double confidence);

  /// The mean loss of the search's seeds that a trial has.
  [[nodiscard]] double mean_loss(const Trial& trial) const;
  /// How far its losses are from their mean.
  [[nodiscard]] double deviation(const Trial& trial) const;

  [[nodiscard]] const std::vector<std::unique_ptr<Trial>>& all() const { return trials_; }

 private:
  void train(Trial& trial, std::uint64_t first, std::size_t count);

  const BisectOptions& options_;
  Variants& variants_;
  std::vector<std::unique_ptr<Trial>> trials_;
};

/// What a loss must be above the reference's to be worse.
[[nodiscard]] double least_difference(const BisectOptions& options, double reference_loss);

}  // namespace halftone

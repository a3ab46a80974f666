// SPDX-License-Identifier: Apache-2.0
// The search for rules to blame, apart from how variants are made and trained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "halftone/bisect.hpp"

namespace halftone {

using RuleList = std::vector<std::string>;

/// Makes and trains variants of one model.
class Variants {
 public:
  virtual ~Variants() = default;

  /// Why the model cannot have these rules, or empty. Comes before all else that is asked of them.
  [[nodiscard]] virtual std::string refusal(const RuleList& rules) = 0;
  [[nodiscard]] virtual VariantRun run(const RuleList& rules, std::uint64_t seed) = 0;
  /// Layers, in the model's order, of which rule `index` decides something.
  [[nodiscard]] virtual std::vector<std::string> layers(const RuleList& rules,
                                                        std::size_t index) = 0;
};

/// Throws Error on options that are none, where there are no rules, and where the reference or all
/// rules are refused, or the reference does not train.
[[nodiscard]] BisectResult search_rules(const RuleList& rules, const BisectOptions& options,
                                        Variants& variants);

/// "+0.0123 (0.01 to 0.0146, 4 seeds)", or that some failed.
[[nodiscard]] std::string text_of(const Difference& difference);

/// "as good as the reference"
[[nodiscard]] const char* word_of(BisectTrial::Outcome outcome);

}  // namespace halftone

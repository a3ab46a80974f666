// SPDX-License-Identifier: Apache-2.0
// Variants as halftonec makes them: shared objects in a folder.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "halftone/manifest/manifest.hpp"
#include "search.hpp"

namespace halftone {

class CompiledVariants : public Variants {
 public:
  /// Throws Error where the folder or the model's text in it cannot be written.
  CompiledVariants(std::span<const manifest::Manifest> manifests, const BisectOptions& options,
                   const TrainVariant& train);

  [[nodiscard]] std::string refusal(const RuleList& rules) override;
  [[nodiscard]] VariantRun run(const RuleList& rules, std::uint64_t seed) override;
  [[nodiscard]] std::vector<std::string> layers(const RuleList& rules, std::size_t index) override;

 private:
  [[nodiscard]] std::filesystem::path file(const std::string& name) const;
  [[nodiscard]] std::string compile(const std::string& name) const;
  void link(const std::string& name) const;

  const BisectOptions& options_;
  std::filesystem::path folder_;  ///< absolute, so that it is no option of halftonec
  const TrainVariant& train_;
  std::vector<std::string> compiler_;        ///< words, without rules and object
  std::map<RuleList, std::string> objects_;  ///< names of files, without their ends
};

/// Layers of which a rule decides a format or another field, in the order of the model; what it
/// decides of a parameter or an internal value counts as its layer's.
[[nodiscard]] std::vector<std::string> layers_decided_by(
    std::span<const manifest::Manifest> manifests, std::size_t rule);

}  // namespace halftone

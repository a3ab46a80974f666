// SPDX-License-Identifier: Apache-2.0
// Every launch of a model by itself, on any device, with operands that depend on a seed alone. So
// what one machine recorded, another can be held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bind.hpp"
#include "odd_sizes.hpp"

namespace halftone::tests {

/// A launch of one of the artifact's programs.
struct Site {
  std::size_t program;
  manifest::Phase phase;
  std::size_t index;
  std::string kernel;
  bool free_sums;  ///< on some chip tensor cores add up its sums, in an order of their own

  /// "backward/3 fc2_weight_gradient"
  [[nodiscard]] std::string text() const;
};

/// What a launch left in the buffers it was given, by buffer, every NaN the same (N7).
using Contents = std::map<std::size_t, std::vector<std::byte>>;

class SingleLaunches {
 public:
  SingleLaunches(const Artifact& artifact, const Device& device);

  /// One of every kernel at least: all of training, and of other programs what it does not launch.
  [[nodiscard]] std::vector<Site> sites() const;

  /// Fills every buffer of the launch, except hyperparameters, and runs it. Operands of a launch
  /// with free sums are multiples of 1/4 of at most 1, whose sums are exact in any order.
  [[nodiscard]] Contents run(const Site& site, std::uint64_t seed);

  /// One sentence for the first element that differs, and how many do; empty when none does.
  [[nodiscard]] std::string difference(const Site& site, const Contents& wanted,
                                       const Contents& got) const;

 private:
  [[nodiscard]] const manifest::Launch& launch(const Site& site) const;
  [[nodiscard]] static bool has_free_sums(const BoundProgram& program,
                                          const manifest::Launch& launch);
  [[nodiscard]] std::vector<std::size_t> buffers(const Site& site) const;
  void fill(const Site& site, std::size_t buffer, std::uint64_t seed);

  [[nodiscard]] BoundProgram& program(const Site& site) const { return *programs_[site.program]; }

  std::vector<std::unique_ptr<BoundProgram>> programs_;  ///< in the manifest's order
};

/// 32 hexadecimal digits.
[[nodiscard]] std::string digest(const Contents& contents);

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
// Every launch of a model by itself, on any device, with operands that depend on a seed alone. So
// what one machine recorded, another can be held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bind.hpp"

namespace halftone::tests {

/// A launch of the training program.
struct Site {
  manifest::Phase phase;
  std::size_t index;
  std::string kernel;
  bool free_sums;  ///< on some chip tensor cores add up its sums, in an order of their own

  /// "backward/3 halftone_fc2_weight_gradient"
  [[nodiscard]] std::string text() const;
};

/// What a launch left in the buffers it was given, by buffer, every NaN the same (N7).
using Contents = std::map<std::size_t, std::vector<std::byte>>;

class SingleLaunches {
 public:
  SingleLaunches(const Artifact& artifact, const Device& device);

  [[nodiscard]] std::vector<Site> sites() const;

  /// Fills every buffer of the launch, except hyperparameters, and runs it. Operands of a launch
  /// with free sums are multiples of 1/4 of at most 1, whose sums are exact in any order.
  [[nodiscard]] Contents run(const Site& site, std::uint64_t seed);

  /// One sentence for the first element that differs, and how many do; empty when none does.
  [[nodiscard]] std::string difference(const Site& site, const Contents& wanted,
                                       const Contents& got) const;

 private:
  [[nodiscard]] const manifest::Launch& launch(const Site& site) const;
  [[nodiscard]] bool has_free_sums(const manifest::Launch& launch) const;
  [[nodiscard]] std::vector<std::size_t> buffers(const Site& site) const;
  void fill(std::size_t buffer, bool exact, std::uint64_t seed);

  std::vector<Binding> bindings_;
  BoundProgram program_;
};

/// 32 hexadecimal digits.
[[nodiscard]] std::string digest(const Contents& contents);

}  // namespace halftone::tests

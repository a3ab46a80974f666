// SPDX-License-Identifier: Apache-2.0
// Collects findings: the same kind at the same lines is one, counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/simulator/finding.hpp"

namespace halftone::simulator {

/// Where in memory.
struct Place {
  std::string_view space = {};
  std::string_view buffer = {};
  std::uint64_t offset = 0;
};

class Findings {
 public:
  explicit Findings(std::uint32_t most) : most_(most) {}

  void add(Finding finding);
  /// Findings of the same launch by another host thread.
  void merge(Findings& other);
  /// In the order of `block_number`, then of time.
  [[nodiscard]] std::vector<Finding> take();

  std::uint64_t block_number = 0;  ///< of the block that runs

 private:
  struct Entry {
    Finding finding;
    std::uint64_t block = 0, order = 0;
  };
  Entry* find(const Finding& finding);

  std::uint32_t most_;
  std::vector<Entry> entries_;
};

}  // namespace halftone::simulator

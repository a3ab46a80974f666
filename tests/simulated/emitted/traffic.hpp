// SPDX-License-Identifier: Apache-2.0
// What kernels ask of shared and global memory, against the least that their accesses need: at most
// 1.15 times that, but for exceptions in a table with their reasons.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "halftone/simulator/counters.hpp"

namespace halftone::tests {

inline constexpr double kMostTraffic = 1.15;

/// A line of the table: how much a kernel may need of one kind of memory, and why.
struct TrafficException {
  std::string kernel;  ///< SKELETON/MODEL/KERNEL, with * for any letters
  std::string memory;  ///< shared or global
  double most = 0;
  std::string reason;
  bool needed = false;  ///< some kernel is above kMostTraffic and at most at `most`
};

/// "SKELETON/MODEL/KERNEL" of a text, from its first line.
[[nodiscard]] std::string label_of(const std::string& text);

class Traffic {
 public:
  void add(const std::string& chip, const std::string& label, const simulator::Counters& counters);

  /// Sentences on kernels above kMostTraffic that the table at `path` does not allow and, where
  /// `all` kernels were added, on lines of it that no kernel needs. Empty: none.
  [[nodiscard]] std::string differences_from(const std::string& path, bool all) const;

  /// How many kernels are where, and the worst.
  [[nodiscard]] std::string summary() const;

 private:
  struct Ratio {
    std::string chip, kernel, memory;
    double ratio;
  };
  [[nodiscard]] std::vector<Ratio> ratios() const;

  std::map<std::pair<std::string, std::string>, simulator::Counters> counters_;  ///< chip, label
};

}  // namespace halftone::tests

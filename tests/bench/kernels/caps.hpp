// SPDX-License-Identifier: Apache-2.0
// How far above its floor each ratio of each kernel may be: recorded in caps.txt, so that an
// exception with a reason does not grow unseen.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "floors.hpp"

namespace halftone::bench {

/// Ratios above kMostOverFloor, each kernel's largest over the chips, by "MODEL/KERNEL" and name.
class Caps {
 public:
  /// The lines "MODEL/KERNEL RATIO MOST" of a text; # begins a comment. Throws std::runtime_error
  /// where a line is no such.
  [[nodiscard]] static Caps parse(const std::string& text);

  void add(const std::string& kernel, const Floor& floor);

  /// A sentence for each ratio of `measured` that is above its cap or has none, and for each cap
  /// that no kernel needs.
  [[nodiscard]] std::string differences(const Caps& measured) const;

  /// Lines for parse(), in steps of 0.05.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::pair<std::string, std::string>, double> most_;
};

}  // namespace halftone::bench

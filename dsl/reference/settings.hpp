// SPDX-License-Identifier: Apache-2.0
// A node's settings by the words of its text form, such as {epsilon: 1e-05}.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"

namespace halftone::reference {

struct Settings {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words;
  std::map<std::string, std::vector<std::int64_t>> lists;
  std::set<std::string> flags;         ///< those that are stated
  description::Expression expression;  ///< of the user's function, where the kind takes one
};

[[nodiscard]] Settings settings_of(const description::Node& node);

}  // namespace halftone::reference

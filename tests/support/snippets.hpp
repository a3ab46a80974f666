// SPDX-License-Identifier: Apache-2.0
// The C++ of a page of documentation.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace halftone::tests {

/// What stands between ```cpp and ```.
inline std::vector<std::string> snippets(const std::string& page) {
  const std::string open = "```cpp\n", close = "```\n";
  std::vector<std::string> found;
  for (std::size_t at = page.find(open); at != page.npos; at = page.find(open, at)) {
    at += open.size();
    const std::size_t end = page.find(close, at);
    found.push_back(page.substr(at, end - at));
    at = end;
  }
  return found;
}

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/values.hpp"

namespace halftone::tests {

/// A batch that is no multiple of any tile, and small values of every other symbol.
inline std::vector<Binding> odd_sizes(const Artifact& artifact) {
  std::vector<Binding> sizes;
  for (const std::string& symbol : artifact.manifest().symbols)
    sizes.push_back({symbol, symbol == "batch" ? 37 : 3});
  return sizes;
}

}  // namespace halftone::tests

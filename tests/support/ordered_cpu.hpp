// SPDX-License-Identifier: Apache-2.0
// This processor as an oracle: with code whose contractions are all ordered (N1, P21).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::tests {

/// Whether a variant's contractions of bf16 are ordered, too: not by AMX nor AVX512-BF16.
inline bool is_ordered(std::string_view variant) {
  return variant != "x86-64-v4-amx" && variant != "x86-64-v4-bf16";
}

/// The best of the artifact's variants that this processor runs and that are ordered.
inline Device ordered_cpu(const Artifact& artifact) {
  const auto& offered = artifact.manifest().variants;
  const Device best = Device::cpu();
  for (const std::string& variant : best.variants())
    if (is_ordered(variant) && std::ranges::count(offered, variant) > 0)
      return Device::cpu(variant);
  return best;
}

}  // namespace halftone::tests

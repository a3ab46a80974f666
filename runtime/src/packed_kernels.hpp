// SPDX-License-Identifier: Apache-2.0
// The kernels that an artifact carries: their texts, and what was compiled of them ahead of time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatch.hpp"
#include "halftone/artifact.hpp"
#include "halftone/manifest/texts.hpp"

namespace halftone {

struct PackedKernels {
  std::vector<std::string> texts;
  std::vector<manifest::AheadImage> ahead;

  /// What texts were compiled for ahead of time.
  [[nodiscard]] std::vector<AheadOfTime> offers() const;

  /// Null when that text was not compiled for it.
  [[nodiscard]] const std::string* find(std::int32_t text, const std::string& architecture) const;
};

/// Every chip that these manifests of an artifact have kernels for, in their order.
[[nodiscard]] std::vector<std::string> chips_of(std::span<const manifest::Manifest> manifests);

/// Those among them that have kernels which are given tensor maps.
[[nodiscard]] std::vector<std::string> chips_with_maps(
    std::span<const manifest::Manifest> manifests);

/// Throws Error when they are damaged; `who` opens it.
[[nodiscard]] std::shared_ptr<const PackedKernels> unpack_kernels(const Artifact& artifact,
                                                                  const char* who);

}  // namespace halftone

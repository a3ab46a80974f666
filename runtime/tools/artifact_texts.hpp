// SPDX-License-Identifier: Apache-2.0
// The CUDA texts of an artifact inside a file, found as its manifests are: by themselves alone.
#pragma once

#include <string>
#include <vector>

#include "halftone/manifest/texts.hpp"

namespace halftone::tools {

struct ArtifactTexts {
  std::vector<std::string> texts;
  std::vector<manifest::AheadImage> ahead;  ///< what was compiled of them ahead of time
};

/// Those that belong to `manifest`, which was read from the file at `path`. Throws
/// std::runtime_error, one sentence, when the artifact has none, or has them damaged.
[[nodiscard]] ArtifactTexts read_texts(const std::string& path, const manifest::Manifest& manifest);

}  // namespace halftone::tools

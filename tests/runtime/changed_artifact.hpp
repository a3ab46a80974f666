// SPDX-License-Identifier: Apache-2.0
// The hand-made artifact with another manifest.
#pragma once

#include <cstddef>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/manifest/manifest.hpp"
#include "line_artifact.hpp"

/// change(manifest) is applied to the model's own. Artifacts that are taken from it must not
/// outlive it.
class ChangedArtifact {
 public:
  template <class Change>
  explicit ChangedArtifact(Change change) : image_(halftone_artifact_line) {
    halftone::manifest::Manifest manifest = hand_made::manifest();
    change(manifest);
    bytes_ = halftone::manifest::encode(manifest);
    manifest_ = {bytes_.data(), bytes_.size()};
    image_.manifests = &manifest_;
  }

  [[nodiscard]] halftone::Artifact artifact() const { return halftone::Artifact::linked(image_); }

 private:
  std::vector<std::byte> bytes_;
  halftone::manifest::ManifestImage manifest_;
  halftone::manifest::ArtifactImage image_;
};

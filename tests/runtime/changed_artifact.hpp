// SPDX-License-Identifier: Apache-2.0
// The hand-made artifact with another manifest, or several.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/manifest/manifest.hpp"
#include "line_artifact.hpp"

/// Of other manifests than the model's own. Artifacts that are taken from it must not outlive it.
class ChangedArtifact {
 public:
  using Manifest = halftone::manifest::Manifest;

  explicit ChangedArtifact(const std::vector<Manifest>& manifests)
      : image_(halftone_artifact_line) {
    for (const Manifest& manifest : manifests)
      bytes_.push_back(halftone::manifest::encode(manifest));
    for (const auto& bytes : bytes_) manifests_.push_back({bytes.data(), bytes.size()});
    image_.manifests = manifests_.data();
    image_.manifest_count = manifests_.size();
  }

  /// change(manifest) is applied to the model's own.
  template <std::invocable<Manifest&> Change>
  explicit ChangedArtifact(Change change) : ChangedArtifact(std::vector{changed(change)}) {}

  [[nodiscard]] halftone::Artifact artifact() const { return halftone::Artifact::linked(image_); }

 private:
  template <class Change>
  static Manifest changed(Change& change) {
    Manifest manifest = hand_made::manifest();
    change(manifest);
    return manifest;
  }

  std::vector<std::vector<std::byte>> bytes_;
  std::vector<halftone::manifest::ManifestImage> manifests_;
  halftone::manifest::ArtifactImage image_;
};

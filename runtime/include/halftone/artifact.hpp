// SPDX-License-Identifier: Apache-2.0
// An artifact: what halftonec made of one model. Linked into the program, or loaded from a sealed
// shared object. An object exports its image as `halftone_artifact_<model>`, so that no program
// links two of one name that differ, and, weakly, as `halftone_artifact`.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "halftone/error.hpp"

namespace halftone::manifest {
struct ArtifactImage;
struct Manifest;
}  // namespace halftone::manifest

namespace halftone {

/// A verified artifact; a cheap handle whose copies share it, and moving one copies it. A loaded
/// object stays mapped while a handle, trainer or predictor uses it.
class Artifact {
 public:
  Artifact(const Artifact&) = default;
  Artifact& operator=(const Artifact&) = default;

  /// An image that is linked into the program. Throws Error when it is damaged or of another
  /// version.
  [[nodiscard]] static Artifact linked(const manifest::ArtifactImage& image);

  /// A shared object that seal_file has sealed (manifest/seal.hpp), as the file is at this moment:
  /// one that was loaded before and has changed since is loaded beside the former one, from a copy
  /// in memory, and each stays what it is. A file is best replaced, not written over, since code
  /// that is in use lies in it. The seal is checked before any of its code is mapped. Throws Error,
  /// one sentence, when the file is unreadable, truncated, altered, of another version, for
  /// another architecture or no artifact.
  [[nodiscard]] static Artifact load(const std::filesystem::path& path);

  /// The manifest that holds for the CPU.
  [[nodiscard]] const manifest::Manifest& manifest() const noexcept;

  /// One for every way in which rules tell targets apart, the CPU's first.
  [[nodiscard]] std::span<const manifest::Manifest> manifests() const noexcept;
  [[nodiscard]] const manifest::ArtifactImage& image() const noexcept;

 private:
  struct State;
  explicit Artifact(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace halftone

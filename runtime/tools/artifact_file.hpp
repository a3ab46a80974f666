// SPDX-License-Identifier: Apache-2.0
// Manifests inside files: halftonec's objects, archives, and the shared objects and programs that
// they were linked into. Nothing of the file is run, mapped as code, or trusted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halftone/manifest/manifest.hpp"

namespace halftone::tools {

/// All of it. Throws std::runtime_error, one sentence, when there is no such file or it cannot be
/// read.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

/// What lies in some bytes: manifests that are whole, and why other places that begin like one are
/// not.
struct Found {
  std::vector<manifest::Manifest> manifests;  ///< equal ones once
  std::vector<manifest::DecodeError> damaged;
};
[[nodiscard]] Found find_manifests(std::span<const std::byte> bytes);

/// The manifests of the file's artifact, the CPU's first; `model` chooses one of several artifacts
/// and may be empty. Throws std::runtime_error, one sentence, when there is no such file, no
/// artifact in it, a damaged one, a seal that does not fit, one of another version, none of that
/// model, or several without a choice.
[[nodiscard]] std::vector<manifest::Manifest> read_artifact(const std::string& path,
                                                            const std::string& model);

/// Of one artifact's manifests those of a stage (P66), the CPU's first; an empty name is the first
/// stage, or none. Throws std::runtime_error for one that the model does not have.
[[nodiscard]] std::vector<manifest::Manifest> of_stage(
    const std::vector<manifest::Manifest>& manifests, const std::string& stage);

}  // namespace halftone::tools

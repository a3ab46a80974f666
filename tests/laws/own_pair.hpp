// SPDX-License-Identifier: Apache-2.0
// A Pair of an artifact's own description.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "halftone/description/text.hpp"
#include "linked_artifact.hpp"
#include "pair.hpp"

namespace halftone::tests {

/// The artifact's code for `variant` beside the reference of what it was made of.
inline Pair make_pair(const LinkedArtifact& artifact, const std::string& variant,
                      std::int64_t batch, std::uint64_t seed = 1) {
  const std::string text = Artifact::linked(*artifact.image).manifest().description;
  return {std::get<description::Description>(description::parse(text)), *artifact.image, variant,
          batch, seed};
}

}  // namespace halftone::tests

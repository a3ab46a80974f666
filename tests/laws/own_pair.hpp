// SPDX-License-Identifier: Apache-2.0
// A Pair of an artifact's own description.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "halftone/description/text.hpp"
#include "linked_artifact.hpp"
#include "pair.hpp"
#include "steps.hpp"

namespace halftone::tests {

/// The artifact's code for `variant` beside the reference of what it was made of.
inline Pair make_pair(const LinkedArtifact& artifact, const std::string& variant,
                      std::int64_t batch, std::uint64_t seed = 1) {
  const std::string text = Artifact::linked(*artifact.image).manifest().description;
  return {std::get<description::Description>(description::parse(text)), *artifact.image, variant,
          batch, seed};
}

/// That the first steps of each artifact equal the reference's.
inline void check_steps(std::span<const LinkedArtifact> artifacts,
                        const std::vector<std::string>& variants,
                        const std::vector<std::int64_t>& batches, int steps) {
  for (const LinkedArtifact& artifact : artifacts)
    for (const std::string& variant : variants)
      for (const std::int64_t batch : batches) {
        CAPTURE(std::string(artifact.name));
        CAPTURE(variant);
        CAPTURE(batch);
        Pair pair = make_pair(artifact, variant, batch);
        for (int step = 0; step < steps; ++step) {
          CAPTURE(step);
          pair.draw();
          check_step(pair);
        }
      }
}

/// The same of two steps, of one sample and of several.
inline void check_first_steps(std::span<const LinkedArtifact> artifacts,
                              const std::string& variant) {
  check_steps(artifacts, {variant}, {1, 6}, 2);
}

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
// How tests of manifests see that decoding failed.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>

#include "halftone/manifest/manifest.hpp"
#include "line_artifact.hpp"

/// Decodes, and says how it failed; nothing when it did not.
inline std::string failure(std::span<const std::byte> bytes,
                           halftone::manifest::DecodeError::Kind& kind) {
  halftone::manifest::Manifest manifest;
  halftone::manifest::DecodeError error;
  if (decode(bytes, manifest, error)) return {};
  CHECK(manifest == halftone::manifest::Manifest{});
  CHECK_FALSE(error.message.empty());
  kind = error.kind;
  return error.message;
}

/// One thing that is wrong with the line model's manifest, and what a refusal says of it.
struct BrokenManifest {
  const char* culprit;
  std::function<void(halftone::manifest::Manifest&)> break_it;
};

inline void check_refused(std::span<const BrokenManifest> cases) {
  for (const BrokenManifest& broken : cases) {
    halftone::manifest::Manifest manifest = hand_made::manifest();
    broken.break_it(manifest);
    halftone::manifest::DecodeError::Kind kind{};
    const std::string message = failure(encode(manifest), kind);
    CAPTURE(broken.culprit);
    CAPTURE(message);
    CHECK(message.find(broken.culprit) != std::string::npos);
    CHECK(kind == halftone::manifest::DecodeError::Kind::malformed);
  }
}

// SPDX-License-Identifier: Apache-2.0
// How tests of manifests see that decoding failed.
#pragma once

#include <doctest/doctest.h>

#include <span>
#include <string>

#include "halftone/manifest/manifest.hpp"

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

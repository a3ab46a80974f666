// SPDX-License-Identifier: Apache-2.0
// What the tables of linked artifacts hold.
#pragma once

#include "halftone/manifest/manifest.hpp"

namespace halftone::tests {

struct LinkedArtifact {
  const char* name;
  const manifest::ArtifactImage* image;
};

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
// The laws of a manifest, beyond what its types say: the runtime indexes by them without further
// checks.
#pragma once

#include <string>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

/// Empty, or what is wrong, naming the culprit.
[[nodiscard]] std::string verify(const Manifest& manifest);

}  // namespace halftone::manifest

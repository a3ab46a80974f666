// SPDX-License-Identifier: Apache-2.0
// Halftone's version, stated here alone: CMake reads it too.
#pragma once

namespace halftone {

inline constexpr const char* kVersionOfHalftone = "0.1.0";

}  // namespace halftone

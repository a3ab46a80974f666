// SPDX-License-Identifier: Apache-2.0
// bisect.json (docs/bisect.md), read back.
#pragma once

#include <string>

#include "halftone/bisect.hpp"

namespace halftone::tools {

/// Whether the file begins as one; not, where it cannot be read.
[[nodiscard]] bool is_bisect(const std::string& path);

/// Throws std::runtime_error, one sentence, where it is damaged or of a later Halftone.
[[nodiscard]] BisectResult read_bisect(const std::string& path);

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
// `halftone diff`: what differs between two explanations.
#pragma once

#include "explain.hpp"

namespace halftone::tools {

/// One object with `equal`, and under `differences` only what differs (docs/tools.md).
[[nodiscard]] Json difference_of(const Json& a, const Json& b);

/// The same for people, who are told of blocks of a repeat together where they differ alike.
[[nodiscard]] std::string text_of_difference(const Json& difference, const Json& a, const Json& b);

}  // namespace halftone::tools

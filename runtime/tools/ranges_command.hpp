// SPDX-License-Identifier: Apache-2.0
// `halftone ranges`: what a file of weights or a checkpoint says to an audit (docs/audit.md).
#pragma once

#include <string>

namespace halftone::tools {

/// A line for each tensor of floats but those of a checkpoint's own: its name, its least and its
/// largest number, and the largest sum of |x| over its last dimension, over all but the first and
/// over all but the last, rounded up. Throws, in one sentence, where the file is unsound, and for a
/// number that is not finite.
[[nodiscard]] std::string ranges_of(const std::string& file);

}  // namespace halftone::tools

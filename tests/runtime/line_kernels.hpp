// SPDX-License-Identifier: Apache-2.0
// The kernels of the line (line_artifact.hpp): plain C++ that writes down how it was called.
#pragma once

#include <cstddef>

namespace hand_made {

inline constexpr std::size_t kLineEntries = 12;

/// The entries of both variants, in the order of the manifest's kernels, finishes behind their own.
extern const void* const* const kLineVariants[2];

}  // namespace hand_made

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace halftone::tests {

/// Of the operands that recorded/digests.txt is about.
inline constexpr std::uint64_t kRecordedSeed = 1;

}  // namespace halftone::tests

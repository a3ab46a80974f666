// SPDX-License-Identifier: Apache-2.0
// Clips: 16 frames of 32 x 32 places of red, green and blue, each from -1 to 1; row-major.
#pragma once

#include <cstdint>

inline constexpr int kFrames = 16, kSide = 32, kColours = 3;
inline constexpr std::int64_t kClip =
    std::int64_t{kFrames} * kSide * kSide * kColours;  ///< numbers

inline constexpr int kLevels = 1000;  ///< of noise, from hardly any to hardly anything else

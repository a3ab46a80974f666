// SPDX-License-Identifier: Apache-2.0
// Sizes that models and programs agree in.
#pragma once

#include <cstdint>

inline constexpr int kBytes = 128;       ///< that a text may have: ASCII
inline constexpr int kWidth = 64;        ///< channels
inline constexpr int kPlaceNumbers = 9;  ///< that say where a place is

inline constexpr int kRead = 512;        ///< bases of a text whose next ones are predicted
inline constexpr int kLong = 65536;      ///< of a long one
inline constexpr int kAnnotated = 1024;  ///< bases of a text to annotate
inline constexpr int kVariant = 65;      ///< bytes: 31 codons, and ">" with a base
inline constexpr int kPiece = 64;        ///< residues of a piece of a protein

inline constexpr int kAnnotations = 4, kEffects = 3, kFamilies = 6;  ///< classes
inline constexpr int kIgnored = 255;                                 ///< label of no class

/// Steps of a task.
inline constexpr int kGenerationSteps = 600, kAdaptationSteps = 300, kAnnotationSteps = 600,
                     kVariantSteps = 1200, kFunctionSteps = 300;

// SPDX-License-Identifier: Apache-2.0
// Clips as a picture that one can look at.
#pragma once

#include <filesystem>
#include <span>

/// A PNG file, a row of 16 frames for each clip, each place three pixels wide. Throws
/// std::runtime_error where it cannot be written.
void write_strips(const std::filesystem::path& file, std::span<const float> clips);

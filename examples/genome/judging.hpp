// SPDX-License-Identifier: Apache-2.0
// What trained models are worth on what they have not seen, beside the simplest ones.
#pragma once

#include <filesystem>
#include <halftone/device.hpp>

#include "tasks.hpp"

/// Prints lines of a table: of the next base bits a base beside a Markov chain's, of classes
/// accuracy and F1 beside the most frequent one's; of an adaptation also what it began with, and
/// fresh weights. What is not trained is left out, and said.
void judge(const Task& task, const halftone::Device& device, const std::filesystem::path& folder);

// SPDX-License-Identifier: Apache-2.0
// Rows of letters.csv, and how many of them a predictor reads.
#pragma once

#include <halftone/fit.hpp>
#include <string>

/// The letter, then 16 numbers from 0 to 15, as about -1 to 1.
halftone::Dataset read_letters(const std::string& file);

/// The share of letters that have the largest of their logits.
double accuracy(halftone::Predictor& predictor, halftone::Loader& loader);

// SPDX-License-Identifier: Apache-2.0
// Sequences that a model or a Markov chain makes, and how like real ones they are.
#pragma once

#include <cstdint>
#include <halftone/predictor.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "markov.hpp"

/// As many sequences as the predictor has rows, each `prompt` and bases behind it, `length` in all:
/// at least one base of prompt, at most as many in all as the model's texts have. Each base is
/// drawn as the model has it.
[[nodiscard]] std::vector<std::string> sample(halftone::Predictor& predictor, std::int64_t rows,
                                              std::int64_t length, std::string_view prompt,
                                              std::uint64_t seed);
/// The same of a chain; the prompt has at least as many bases as its order.
[[nodiscard]] std::string sample(const Markov& chain, std::int64_t length, std::string_view prompt,
                                 std::uint64_t seed);

/// The share of G and C.
[[nodiscard]] double gc_content(std::string_view text);

/// Half the sum of differences between how often each run of k bases occurs: 0 where texts have the
/// same ones equally often, 1 where they have none in common.
[[nodiscard]] double kmer_distance(std::string_view left, std::string_view right, int k);

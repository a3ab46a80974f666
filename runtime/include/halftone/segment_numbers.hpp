// SPDX-License-Identifier: Apache-2.0
// The numbers that segment_sum and its like read (D93), of a sequence whose segments a tokenizer or
// an entropy gave as boundaries or as lengths.
#pragma once

#include <cstdint>
#include <span>

namespace halftone {

/// Of every time of one sequence the number of its segment, 0, 1, ... `begins` is not 0 where a
/// segment begins; the first time begins one, whatever stands there. Returns how many segments
/// there are; those from a model's number of segments on are added to none of its sums. Throws
/// Error where both are not as long as each other.
///   .transform = [](const GatheredBatch& batch) { ... number_segments(begins, numbers); ... }
std::int32_t number_segments(std::span<const std::uint8_t> begins, std::span<std::int32_t> numbers);

/// Likewise of segments of these lengths, one behind another, of which each may be 0. What is left
/// of the sequence belongs to none: -1. Throws Error where a length is negative or they are more
/// than the sequence has times.
void number_segments_by_length(std::span<const std::int32_t> lengths,
                               std::span<std::int32_t> numbers);

}  // namespace halftone

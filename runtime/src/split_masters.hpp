// SPDX-License-Identifier: Apache-2.0
// Masters that are held as bf16 and a remainder of 16 bits: P69 of the specification's page on
// precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone {

/// The code of a bf16, and the i16 that is added to the f32's code.
struct SplitMasters {
  std::vector<std::uint16_t> upper;
  std::vector<std::int16_t> remainders;
};

/// M5: what lies in the middle of two numbers of bf16, of which the even one is nearer to zero, is
/// one place of f32 nearer to zero afterwards. A NaN is the one of bf16.
[[nodiscard]] SplitMasters split(std::span<const float> masters);

/// `masters` of elements that lie in two buffers, from the first ones there on.
void join(const std::byte* upper, const std::byte* remainders, std::span<float> masters);

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "split_masters.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "formats.hpp"

namespace halftone {
namespace {

constexpr std::uint32_t kUpperLastAndLower = 0x1ffff, kMiddle = 0x08000;

std::uint32_t settled(std::uint32_t bits) {
  return (bits & kUpperLastAndLower) == kMiddle ? bits - 1 : bits;
}

}  // namespace

SplitMasters split(std::span<const float> masters) {
  SplitMasters halves;
  halves.upper.reserve(masters.size());
  halves.remainders.reserve(masters.size());
  for (const float master : masters) {
    const std::uint32_t bits = settled(std::bit_cast<std::uint32_t>(master));
    const std::uint32_t upper = narrowed(encoding::Element::bf16, std::bit_cast<float>(bits));
    const std::uint32_t rest = std::isnan(master) ? 0 : bits - (upper << 16);
    halves.upper.push_back(static_cast<std::uint16_t>(upper));
    halves.remainders.push_back(static_cast<std::int16_t>(static_cast<std::uint16_t>(rest)));
  }
  return halves;
}

void join(const std::byte* upper, const std::byte* remainders, std::span<float> masters) {
  for (std::size_t i = 0; i < masters.size(); ++i) {
    std::uint16_t high = 0;
    std::int16_t low = 0;
    std::memcpy(&high, upper + i * sizeof high, sizeof high);
    std::memcpy(&low, remainders + i * sizeof low, sizeof low);
    const std::uint32_t bits = (std::uint32_t{high} << 16) + static_cast<std::uint32_t>(low);
    masters[i] = std::bit_cast<float>(bits);
  }
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// N9: Philox4x32-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC11.
#pragma once

#include <array>
#include <cstdint>

namespace halftone::reference {

using Words = std::array<std::uint32_t, 4>;

inline Words philox(Words c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57} * c[2];
    const auto high = [](std::uint64_t product) {
      return static_cast<std::uint32_t>(product >> 32);
    };
    const auto low = [](std::uint64_t product) { return static_cast<std::uint32_t>(product); };
    c = {high(odd) ^ c[1] ^ key[0], low(odd), high(even) ^ c[3] ^ key[1], low(even)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

}  // namespace halftone::reference

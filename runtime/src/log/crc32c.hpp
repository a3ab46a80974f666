// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli; RFC 3720, B.4), as entries of TensorFlow have it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halftone {

[[nodiscard]] constexpr std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::array<std::uint32_t, 256> kTable = [] {
    constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit)
        rest = (rest >> 1) ^ ((rest & 1) != 0 ? kReversedPolynomial : 0);
      table[byte] = rest;
    }
    return table;
  }();
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<std::uint8_t>(c)) & 0xff];
  return ~crc;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Names for texts that nobody makes in order to collide.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "halftone/manifest/checksum.hpp"

namespace halftone::tests {

/// XXH3-128, as 32 hexadecimal digits.
inline std::string digest_of(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const std::byte each : manifest::checksum_of(std::as_bytes(std::span(text)))) {
    digits += kDigits[std::to_integer<unsigned>(each) >> 4];
    digits += kDigits[std::to_integer<unsigned>(each) & 15];
  }
  return digits;
}

}  // namespace halftone::tests

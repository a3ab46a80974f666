// SPDX-License-Identifier: Apache-2.0
// The reference's conversions in the shape that conversion_oracles.hpp judges.
#pragma once

#include <bit>

#include "conversion_oracles.hpp"
#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

inline Encode<std::uint16_t> codes_by_reference(const Mode& mode) {
  return [to = reference::RoundTo{mode.format, mode.rounding, mode.saturate}](
             const float* in, std::uint16_t* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = reference::encode(to, in[i]);
  };
}

inline Encode<std::uint32_t> tf32_by_reference(const Mode& mode) {
  return [to = reference::RoundTo{mode.format, mode.rounding, mode.saturate}](
             const float* in, std::uint32_t* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = std::bit_cast<std::uint32_t>(reference::round(to, in[i]));
    }
  };
}

inline Decode values_by_reference(description::Element format) {
  return [format](const std::uint16_t* in, float* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = reference::decode(format, in[i]);
  };
}

}  // namespace halftone::tests

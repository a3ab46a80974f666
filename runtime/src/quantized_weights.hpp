// SPDX-License-Identifier: Apache-2.0
// Weights that a program holds as codes of 8 bits and a scale for each channel: P81 and P103 of the
// specification's page on precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halftone/encoding/element.hpp"

namespace halftone {

/// How a weight is held: what codes are, and how its elements, row-major, belong to channels.
struct HeldWeight {
  encoding::Element element = encoding::Element::i8;  ///< or f8e4m3
  bool least_error = false;                           ///< how scales are found
  std::int64_t channels = 1;
  std::int64_t behind = 1;  ///< neighbours of one channel; the next channel's follow

  [[nodiscard]] std::size_t channel_of(std::size_t element_index) const {
    return element_index / static_cast<std::size_t>(behind) % static_cast<std::size_t>(channels);
  }
};

struct QuantizedValues {
  std::vector<std::byte> codes;  ///< one for each value
  std::vector<float> scales;  ///< one for each channel; NaN where one of its values is not finite
};

/// `squares` has one for each value, by which least_error weighs its error (P103), or is empty.
[[nodiscard]] QuantizedValues quantize(const HeldWeight& how, std::span<const float> values,
                                       std::span<const double> squares = {});

/// What codes and scales stand for: each code's value times its channel's scale.
void dequantize(const HeldWeight& how, const std::byte* codes, const std::byte* scales,
                std::span<float> values);

}  // namespace halftone

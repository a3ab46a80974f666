// SPDX-License-Identifier: Apache-2.0
// Elements of buffers as f32 and back: F1 to F4 of the specification's page on precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "halftone/encoding/element.hpp"

namespace halftone {

/// The element with that index, of integers.
[[nodiscard]] std::int64_t integer_of(const std::byte* buffer, encoding::Element element,
                                      std::int64_t index);

/// F4: the element with that index as f32, exactly; of integers the nearest f32. Elements take
/// whole bytes.
[[nodiscard]] float element_of(const std::byte* buffer, encoding::Element element,
                               std::int64_t index);

/// Likewise of several, from that index on: as many as `values` has.
void read_elements(const std::byte* buffer, encoding::Element element, std::int64_t first,
                   std::span<float> values);

/// F4: the value of a float's code.
[[nodiscard]] float value_of(encoding::Element element, std::uint32_t code);

/// F2, F3: the code of a narrow float nearest to x, ties to even.
[[nodiscard]] std::uint32_t narrowed(encoding::Element element, float x, bool saturate = false);

}  // namespace halftone

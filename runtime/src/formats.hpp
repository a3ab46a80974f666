// SPDX-License-Identifier: Apache-2.0
// Elements of buffers as f32 and back: F1 to F4 of the specification's page on precision.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halftone/manifest/manifest.hpp"

namespace halftone {

/// F4: the element with that index as f32, exactly; of i32 the nearest f32.
[[nodiscard]] float element_of(const std::byte* buffer, manifest::Format format,
                               std::int64_t index);

/// F2, F3: the 16 bits of f16 or bf16 nearest to x, ties to even, NaN as 7fff.
[[nodiscard]] std::uint16_t narrowed(manifest::Format format, float x);

}  // namespace halftone

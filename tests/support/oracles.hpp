// SPDX-License-Identifier: Apache-2.0
// What each oracle's file offers to conversion_oracles.cpp; empty functions where it is missing.
#pragma once

#include "conversion_oracles.hpp"

namespace halftone::tests {

[[nodiscard]] Encode<std::uint16_t> f16c_encode(const Mode& mode);
[[nodiscard]] Decode f16c_decode(description::Element format);
[[nodiscard]] std::string f16c_missing();

[[nodiscard]] Encode<std::uint16_t> cuda_encode(const Mode& mode);
[[nodiscard]] Decode cuda_decode(description::Element format);
[[nodiscard]] std::string cuda_missing();

[[nodiscard]] Encode<std::uint16_t> apfloat_encode(const Mode& mode);
[[nodiscard]] Encode<std::uint32_t> apfloat_encode_tf32(const Mode& mode);
[[nodiscard]] Decode apfloat_decode(description::Element format);
[[nodiscard]] std::string apfloat_missing();

[[nodiscard]] Encode<std::uint16_t> tables_encode(const Mode& mode);
[[nodiscard]] Encode<std::uint32_t> tables_encode_tf32(const Mode& mode);

}  // namespace halftone::tests

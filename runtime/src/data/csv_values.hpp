// SPDX-License-Identifier: Apache-2.0
// Numbers in fields of CSV, with a point and no separators of thousands.
#pragma once

#include <cstdint>
#include <string_view>

namespace halftone::data {

/// Spaces and tabs around a number, and a plus, are let pass. Null, or what is wrong with it as the
/// rest of a sentence: "is missing", "is no number".
[[nodiscard]] const char* read_number(std::string_view text, float& value);
[[nodiscard]] const char* read_number(std::string_view text, std::int32_t& value);

}  // namespace halftone::data

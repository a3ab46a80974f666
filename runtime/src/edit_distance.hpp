// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace halftone {

/// How many letters must be added, left out, replaced or exchanged with the next one to make `b` of
/// `a`; no letter is changed twice (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace halftone

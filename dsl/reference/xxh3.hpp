// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace halftone::reference {

/// XXH3-64 with seed 0.
[[nodiscard]] std::uint64_t xxh3(std::string_view text);

}  // namespace halftone::reference

// SPDX-License-Identifier: Apache-2.0
// The chips that NVRTC 13.0 makes cubins for, with the features of each that only it has.
#pragma once

#include <array>

namespace halftone::tests {

inline constexpr std::array kChips = {"75",   "80",   "86",   "87",   "89",  "90a",
                                      "100a", "103a", "110a", "120a", "121a"};

}  // namespace halftone::tests

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace halftone::reference {

/// What the numbers that a layer draws depend on, beside the element (D35).
struct Draws {
  bool training = false;  ///< inference draws none
  std::uint64_t seed = 0;
  std::uint64_t layer = 0;  ///< the hash of its name
  std::uint32_t step = 0, micro_batch = 0;
};

}  // namespace halftone::reference

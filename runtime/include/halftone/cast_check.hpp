// SPDX-License-Identifier: Apache-2.0
// What rounding to a narrow format would do to a tensor, before anybody rounds it.
//
//   const auto check = halftone::check_cast(trainer.gradient("fc1.weight"),
//   halftone::encoding::Element::f16); if (!check.is_safe()) ...
#pragma once

#include <cstdint>
#include <span>

#include "halftone/encoding/element.hpp"

namespace halftone {

/// By F2 and F3 of the specification's page on precision: to the nearest, ties to even.
struct CastCheck {
  std::int64_t values = 0;
  std::int64_t not_finite = 0;    ///< infinite or NaN as they are
  std::int64_t overflows = 0;     ///< finite, and infinite once rounded
  std::int64_t underflows = 0;    ///< not 0, and 0 once rounded
  std::int64_t subnormals = 0;    ///< fewer digits than the format's normal numbers have
  std::int64_t first_fault = -1;  ///< index of the first that is not finite or overflows; -1: none
  float largest = 0.0f;           ///< magnitude of the finite ones
  float smallest = 0.0f;          ///< magnitude of those that are not 0; 0 without any
  double worst_error = 0.0;       ///< |rounded - value| / |value| where the result is normal

  [[nodiscard]] bool is_safe() const { return not_finite == 0 && overflows == 0; }
};

/// Throws Error where `to` is no float that tensors are stored in.
[[nodiscard]] CastCheck check_cast(std::span<const float> values, encoding::Element to);

}  // namespace halftone

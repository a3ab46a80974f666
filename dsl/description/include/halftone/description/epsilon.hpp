// SPDX-License-Identifier: Apache-2.0
// The setting of the kinds that divide by a root: what is added to the mean of squares beneath it.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/kind_form.hpp"

namespace halftone::description {

inline constexpr SettingForm kEpsilon{.name = "epsilon",
                                      .standard = 1e-5,
                                      .accepts = is_not_negative_in_f32,
                                      .title = "an epsilon",
                                      .trouble = "is negative or not finite in f32",
                                      .example = "1e-5",
                                      .rule = "D11"};

}  // namespace halftone::description

// SPDX-License-Identifier: Apache-2.0
// The settings of a layer or loss, by its form; whether they fit its shapes is not asked.
#pragma once

#include "choices.hpp"
#include "halftone/description/description.hpp"

namespace halftone::tests {

/// Of a layer or loss of this kind that reads `x`; its function, if it has one, is left out.
description::Attributes random_attributes(Choices& choices, description::Kind kind,
                                          const description::Shape& x);

}  // namespace halftone::tests

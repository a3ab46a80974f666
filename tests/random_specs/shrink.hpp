// SPDX-License-Identifier: Apache-2.0
// From a model with a fault to a small one with the same fault.
#pragma once

#include <functional>

#include "halftone/description/description.hpp"

namespace halftone::tests {

/// Takes away rules, losses, layers, outputs, what belongs to the optimizer and numbers of elements
/// for as long as `fails`, which is asked of valid models alone, at most `tries` times.
description::Description shrink(description::Description model,
                                const std::function<bool(const description::Description&)>& fails,
                                int tries = 400);

}  // namespace halftone::tests

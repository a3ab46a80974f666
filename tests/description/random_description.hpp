// SPDX-License-Identifier: Apache-2.0
// Valid Descriptions drawn from a list of numbers: every list gives one, and shorter lists give
// smaller ones.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/description/description.hpp"

namespace halftone::tests {

description::Description random_description(const std::vector<std::uint32_t>& choices);

}  // namespace halftone::tests

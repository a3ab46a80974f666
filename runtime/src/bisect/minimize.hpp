// SPDX-License-Identifier: Apache-2.0
// The smallest part that a search by halves comes to.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace halftone {

using Part = std::vector<std::size_t>;

/// A part of `all`, in their order, that has the property and no element which it could lack
/// (delta debugging, ddmin of Zeller and Hildebrandt 2002). `all` is known to have it. Of n
/// elements about 2 log n parts are asked for where one alone matters, at worst n^2.
[[nodiscard]] Part minimize(Part all, const std::function<bool(const Part&)>& has_property);

}  // namespace halftone

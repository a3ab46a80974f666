// SPDX-License-Identifier: Apache-2.0
#include "minimize.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace halftone {
namespace {

/// Piece `index` of `count` of about equal size, or all but it.
Part piece(const Part& all, std::size_t index, std::size_t count, bool is_complement) {
  const std::size_t begin = all.size() * index / count, end = all.size() * (index + 1) / count;
  Part part;
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((begin <= i && i < end) != is_complement) part.push_back(all[i]);
  return part;
}

std::optional<Part> smaller(const Part& all, std::size_t count, bool is_complement,
                            const std::function<bool(const Part&)>& has_property) {
  for (std::size_t i = 0; i < count; ++i) {
    Part part = piece(all, i, count, is_complement);
    if (has_property(part)) return part;
  }
  return std::nullopt;
}

}  // namespace

Part minimize(Part all, const std::function<bool(const Part&)>& has_property) {
  std::size_t count = 2;
  while (all.size() >= 2) {
    if (auto part = smaller(all, count, false, has_property)) {
      all = std::move(*part);
      count = 2;
    } else if (auto rest = count > 2 ? smaller(all, count, true, has_property) : std::nullopt) {
      all = std::move(*rest);
      count = std::max<std::size_t>(2, count - 1);
    } else if (count < all.size()) {
      count = std::min(2 * count, all.size());
    } else {
      break;
    }
  }
  return all;
}

}  // namespace halftone

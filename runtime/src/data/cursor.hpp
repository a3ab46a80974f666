// SPDX-License-Identifier: Apache-2.0
// Where a loader is, as a line of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::data {

/// What decides an order and every batch of it, and the place in it: "loader 1
/// data=0123456789abcdef rows=1438 batch=64 seed=1 shuffle=1 drop_last=0 epoch=3 next=17".
struct Cursor {
  std::uint64_t data = 0;  ///< digest of Dataset::Table::form()
  std::uint64_t rows = 0, batch = 0, seed = 0;
  std::uint64_t shuffle = 0, drop_last = 0;
  std::uint64_t epoch = 0;  ///< epochs that are over
  std::uint64_t next = 0;   ///< the batch that comes next; as many as there are: the epoch's end

  [[nodiscard]] std::string text() const;
};

/// Throws Error where the text is none, or is of other data or options than `own`.
[[nodiscard]] Cursor parse_cursor(std::string_view text, const Cursor& own);

}  // namespace halftone::data

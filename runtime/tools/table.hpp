// SPDX-License-Identifier: Apache-2.0
// Text in columns for people.
#pragma once

#include <string>
#include <vector>

namespace halftone::tools {

inline constexpr std::size_t kColumns = 100;

/// Rows under a heading; a row of one cell is a line of its own between them. When the whole is too
/// wide, the middle of long cells of column `elastic` becomes "..".
class Table {
 public:
  explicit Table(std::vector<std::string> heading, std::size_t elastic = 0)
      : rows_{std::move(heading)}, elastic_(elastic) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t elastic_;
};

/// `text` in lines of at most kColumns, broken at spaces; lines but the first, which
/// keeps its leading spaces, are indented.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace halftone::tools

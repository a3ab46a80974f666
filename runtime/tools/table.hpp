// SPDX-License-Identifier: Apache-2.0
// Text in columns for people.
#pragma once

#include <string>
#include <vector>

namespace halftone::tools {

inline constexpr std::size_t kColumns = 100;

/// Rows under a heading; a row of one cell is a line of its own between them. Columns are as wide
/// as what stands in them, since a name that is cut may be another's.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `text` in lines of at most kColumns where its words allow, broken at spaces; lines but the
/// first, which keeps its leading spaces, are indented.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace halftone::tools

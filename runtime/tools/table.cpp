// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <sstream>

namespace halftone::tools {
namespace {

constexpr std::size_t kIndent = 2, kGap = 2;

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    if (row.size() == 1) continue;
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(kIndent, ' ');
    if (row.size() == 1) {
      text += line + row.front() + "\n";
      continue;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + kGap, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string result, line(std::min(text.find_first_not_of(' '), text.size()), ' ');
  bool fresh = true;
  for (std::string word; words >> word; fresh = false) {
    if (!fresh && line.size() + 1 + word.size() > kColumns) {
      result += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (fresh ? "" : " ") + word;
    }
  }
  return result + line + "\n";
}

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <sstream>

namespace halftone::tools {
namespace {

constexpr std::size_t kIndent = 2, kGap = 2, kNarrowest = 12;

std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const std::size_t tail = (width - 2) / 2, head = width - 2 - tail;
  return text.substr(0, head) + ".." + text.substr(text.size() - tail);
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    if (row.size() == 1) continue;
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::size_t whole = kIndent;
  for (const std::size_t width : widths) whole += width + kGap;
  whole -= kGap;
  if (whole > kColumns) {
    std::size_t& width = widths[elastic_];
    const std::size_t excess = std::min(whole - kColumns, width);
    width = std::max(width - excess, std::min(width, kNarrowest));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(kIndent, ' ');
    if (row.size() == 1) {
      text += line + row.front() + "\n";
      continue;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = shortened(row[i], widths[i]);
      line += cell + std::string(widths[i] - cell.size() + kGap, ' ');
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

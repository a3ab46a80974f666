// SPDX-License-Identifier: Apache-2.0
#include "ptxas_log.hpp"

#include <regex>
#include <sstream>

namespace halftone::tests {
namespace {

/// The first number that `pattern` captures in `line`, or 0.
int number(const std::string& line, const char* pattern) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(pattern)) ? std::stoi(match[1]) : 0;
}

}  // namespace

std::vector<EntryUsage> parse_ptxas_log(const std::string& log) {
  static const std::regex kEntry("Compiling entry function '([^']*)'");
  std::vector<EntryUsage> entries;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kEntry)) entries.push_back({.entry = match[1]});
    if (entries.empty()) continue;
    EntryUsage& entry = entries.back();
    entry.stack_bytes += number(line, "([0-9]+) bytes stack frame");
    entry.spill_bytes +=
        number(line, "([0-9]+) bytes spill stores") + number(line, "([0-9]+) bytes spill loads");
    entry.registers += number(line, "Used ([0-9]+) registers");
    entry.shared_bytes += number(line, "([0-9]+) bytes smem");
  }
  return entries;
}

}  // namespace halftone::tests

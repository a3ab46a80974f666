// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string_view>

namespace halftone::tests {

namespace {

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*')
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  return !text.empty() && pattern.front() == text.front() &&
         matches(pattern.substr(1), text.substr(1));
}

double ratio_of(std::uint64_t counted, std::uint64_t ideal) {
  return ideal == 0 ? 1.0 : static_cast<double>(counted) / static_cast<double>(ideal);
}

/// "KERNEL MEMORY MOST REASON", one a line; # begins a comment.
std::vector<TrafficException> read_table(const std::string& path) {
  std::vector<TrafficException> table;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    TrafficException& each = table.emplace_back();
    words >> each.kernel >> each.memory >> each.most >> std::ws;
    std::getline(words, each.reason);
  }
  return table;
}

}  // namespace

std::string label_of(const std::string& text) {
  // "// MODEL: KERNEL, SKELETON kernel, ..."
  const std::size_t colon = text.find(": "), comma = text.find(", ", colon),
                    end = text.find(" kernel,", comma);
  if (!text.starts_with("// ") || end == std::string::npos || end > text.find('\n'))
    return "?/" + text.substr(0, text.find('\n'));
  return text.substr(comma + 2, end - comma - 2) + "/" + text.substr(3, colon - 3) + "/" +
         text.substr(colon + 2, comma - colon - 2);
}

void Traffic::add(const std::string& chip, const std::string& label,
                  const simulator::Counters& counters) {
  counters_[{chip, label}] += counters;
}

std::vector<Traffic::Ratio> Traffic::ratios() const {
  std::vector<Ratio> all;
  for (const auto& [key, counters] : counters_) {
    all.push_back({key.first, key.second, "shared",
                   ratio_of(counters.shared_wavefronts, counters.shared_wavefronts_ideal)});
    all.push_back({key.first, key.second, "global",
                   ratio_of(counters.global_sectors, counters.global_sectors_ideal)});
  }
  return all;
}

std::string Traffic::differences_from(const std::string& path, bool all) const {
  std::vector<TrafficException> table = read_table(path);
  std::ostringstream text;
  for (const Ratio& each : ratios()) {
    if (each.ratio <= kMostTraffic) continue;
    const auto allowed = std::ranges::find_if(table, [&](const TrafficException& line) {
      return line.memory == each.memory && matches(line.kernel, each.kernel) &&
             each.ratio <= line.most && !line.reason.empty();
    });
    if (allowed == table.end())
      text << each.kernel << " on " << each.chip << " takes " << each.ratio << " of its ideal in "
           << each.memory << " memory\n";
    else
      allowed->needed = true;
  }
  for (const TrafficException& line : table)
    if (all && !line.needed)
      text << "no kernel needs the line of " << line.kernel << " in " << path << "\n";
  return text.str();
}

std::string Traffic::summary() const {
  std::ostringstream text;
  for (const char* memory : {"shared", "global"}) {
    int count = 0, above = 0;
    const Ratio* worst = nullptr;
    const std::vector<Ratio> all = ratios();
    for (const Ratio& each : all) {
      if (each.memory != memory) continue;
      ++count;
      above += each.ratio > kMostTraffic;
      if (worst == nullptr || each.ratio > worst->ratio) worst = &each;
    }
    if (worst == nullptr) continue;
    text << memory << " memory: " << count - above << " of " << count
         << " kernels on chips at most " << kMostTraffic << " of their ideal, worst "
         << worst->ratio << " (" << worst->kernel << " on " << worst->chip << ")\n";
  }
  return text.str();
}

}  // namespace halftone::tests

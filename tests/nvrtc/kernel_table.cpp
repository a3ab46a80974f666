// SPDX-License-Identifier: Apache-2.0
#include "kernel_table.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "codegen/plan/Chips.h"

namespace halftone::tests {
namespace {

constexpr int kRegisterUnit = 8, kWarp = 32, kReservedShared = 1024;

std::string who(const KernelTable::value_type& row) {
  return row.first.first + " on " + row.first.second;
}

std::string more(const KernelTable::value_type& row, const char* what, int has, int limit) {
  return who(row) + " takes " + std::to_string(has) + " " + what + ", more than the recorded " +
         std::to_string(limit);
}

}  // namespace

KernelUse recorded_of(const KernelUse& use) {
  KernelUse recorded = use;
  recorded.registers = (use.registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  return recorded;
}

KernelTable parse_limits(const std::string& text) {
  KernelTable limits;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string kernel, chips, hash;
    KernelUse use;
    if (!(words >> kernel >> use.registers >> use.shared_bytes >> use.spill_bytes >> chips) ||
        (use.spill_bytes > 0 && !(words >> hash))) {
      throw std::runtime_error("the limits have a line that is no limit: " + line);
    }
    std::istringstream names(chips);
    for (std::string chip; std::getline(names, chip, ',');) limits[{kernel, chip}] = use;
  }
  return limits;
}

std::string text_of_limits(const KernelTable& table) {
  std::ostringstream text;
  std::map<std::string, std::vector<std::pair<KernelUse, std::string>>> rows;
  for (const auto& [key, use] : table) {
    auto& groups = rows[key.first];
    const auto same = std::ranges::find(groups, use, &std::pair<KernelUse, std::string>::first);
    if (same == groups.end()) {
      groups.emplace_back(use, key.second);
    } else {
      same->second += "," + key.second;
    }
  }
  for (const auto& [kernel, groups] : rows) {
    for (const auto& [use, chips] : groups) {
      text << kernel << " " << use.registers << " " << use.shared_bytes << " " << use.spill_bytes
           << " " << chips << (use.spill_bytes > 0 ? " # no reason given" : "") << "\n";
    }
  }
  return text.str();
}

std::vector<std::string> excesses(const KernelTable& table, const KernelTable& limits) {
  std::vector<std::string> found;
  for (const auto& row : table) {
    const auto limit = limits.find(row.first);
    if (limit == limits.end()) {
      found.push_back(who(row) + " has no recorded limit");
      continue;
    }
    const KernelUse &has = row.second, &may = limit->second;
    if (has.registers > may.registers) {
      found.push_back(more(row, "registers", has.registers, may.registers));
    }
    if (has.shared_bytes > may.shared_bytes) {
      found.push_back(more(row, "bytes of shared memory", has.shared_bytes, may.shared_bytes));
    }
    if (has.spill_bytes > may.spill_bytes) {
      found.push_back(more(row, "bytes of spills", has.spill_bytes, may.spill_bytes));
    }
  }
  for (const auto& row : limits) {
    if (!table.contains(row.first)) found.push_back(who(row) + " is recorded and not there");
  }
  return found;
}

int occupancy_percent(const std::string& chip, const KernelUse& use, int threads) {
  const ir::Chip* const known = ir::findChip(chip);
  if (!known) return 0;
  const int registers = recorded_of(use).registers * threads;
  const int shared = use.shared_bytes + (known->number >= 80 ? kReservedShared : 0);
  const int blocks = std::min({known->blocksPerSm, known->threadsPerSm / threads,
                               registers > 0 ? ir::kRegistersPerSm / registers : 64,
                               shared > 0 ? known->sharedPerSm / shared : 64});
  return 100 * blocks * (threads / kWarp) / (known->threadsPerSm / kWarp);
}

}  // namespace halftone::tests

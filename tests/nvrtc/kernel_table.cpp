// SPDX-License-Identifier: Apache-2.0
#include "kernel_table.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "codegen/plan/Chips.h"

namespace halftone::tests {
namespace {

constexpr int kRegisterUnit = 8, kWarp = 32, kReservedShared = 1024;

int rounded_up(int registers) {
  return (registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
}

}  // namespace

KernelUse limit_of(const KernelUse& limit, const KernelUse& use) {
  const int lower = std::min(limit.mma_percent, use.mma_percent);
  return {.registers = std::max(limit.registers, rounded_up(use.registers)),
          .shared_bytes = std::max(limit.shared_bytes, use.shared_bytes),
          .spill_bytes = std::max(limit.spill_bytes, use.spill_bytes),
          .mma_percent = lower > 0 ? lower : std::max(limit.mma_percent, use.mma_percent)};
}

KernelTable parse_limits(const std::string& text) {
  KernelTable limits;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t reason = line.find(" # ");
    std::istringstream words(line.substr(0, reason));
    std::string chips, shape;
    KernelUse use;
    if (!(words >> use.registers >> use.shared_bytes >> use.spill_bytes >> use.mma_percent >>
          chips >> std::ws) ||
        !std::getline(words, shape) || (use.spill_bytes > 0 && reason == line.npos)) {
      throw std::runtime_error("the limits have a line that is no limit: " + line);
    }
    std::istringstream names(chips);
    for (std::string chip; std::getline(names, chip, ',');) limits[{shape, chip}] = use;
  }
  return limits;
}

std::map<std::string, std::string> parse_reasons(const std::string& text) {
  std::map<std::string, std::string> reasons;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t reason = line.find(" # ");
    if (line.starts_with('#') || reason == line.npos) continue;
    std::istringstream words(line.substr(0, reason));
    std::string word, shape;
    for (int i = 0; i < 5; ++i) words >> word;
    std::getline(words >> std::ws, shape);
    reasons[shape] = line.substr(reason + 3);
  }
  return reasons;
}

std::string text_of_limits(const KernelTable& table,
                           const std::map<std::string, std::string>& reasons) {
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
  for (const auto& [shape, groups] : rows) {
    const auto known = reasons.find(shape);
    const std::string reason = known == reasons.end() ? "no reason given" : known->second;
    for (const auto& [use, chips] : groups) {
      text << use.registers << " " << use.shared_bytes << " " << use.spill_bytes << " "
           << use.mma_percent << " " << chips << " " << shape
           << (use.spill_bytes > 0 ? " # " + reason : "") << "\n";
    }
  }
  return text.str();
}

std::vector<std::string> excesses(const std::string& who, const KernelUse& use,
                                  const KernelUse& limit) {
  std::vector<std::string> found;
  const auto at_most = [&](const char* what, int has, int most) {
    if (has > most)
      found.push_back(who + " takes " + std::to_string(has) + " " + what +
                      ", more than the recorded " + std::to_string(most));
  };
  at_most("registers", use.registers, limit.registers);
  at_most("bytes of shared memory", use.shared_bytes, limit.shared_bytes);
  at_most("bytes of spills", use.spill_bytes, limit.spill_bytes);
  if (use.mma_percent > 0 && use.mma_percent < limit.mma_percent)
    found.push_back(who + " has " + std::to_string(use.mma_percent) +
                    " % mma in its main loop, less than the recorded " +
                    std::to_string(limit.mma_percent) + " %");
  return found;
}

int occupancy_percent(const std::string& chip, const KernelUse& use, int threads) {
  const ir::Chip* const known = ir::findChip(chip);
  if (!known) return 0;
  const int registers = rounded_up(use.registers) * threads;
  const int shared = use.shared_bytes + (known->number >= 80 ? kReservedShared : 0);
  const int blocks = std::min({known->blocksPerSm, known->threadsPerSm / threads,
                               registers > 0 ? ir::kRegistersPerSm / registers : 64,
                               shared > 0 ? known->sharedPerSm / shared : 64});
  return 100 * blocks * (threads / kWarp) / (known->threadsPerSm / kWarp);
}

}  // namespace halftone::tests

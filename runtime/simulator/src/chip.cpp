// SPDX-License-Identifier: Apache-2.0
#include "halftone/simulator/chip.hpp"

#include <algorithm>
#include <charconv>

namespace halftone::simulator {

namespace {

constexpr std::uint32_t kKiB = 1024;

constexpr Chip kChips[] = {
    {"sm_75", 75, "T4", 40, 1024, 16, 64 * kKiB, 64 * kKiB},
    {"sm_80", 80, "A100", 108, 2048, 32, 164 * kKiB, 163 * kKiB},
    {"sm_86", 86, "RTX 3090", 82, 1536, 16, 100 * kKiB, 99 * kKiB},
    {"sm_87", 87, "Jetson AGX Orin", 16, 1536, 16, 164 * kKiB, 163 * kKiB},
    {"sm_89", 89, "RTX 4090", 128, 1536, 24, 100 * kKiB, 99 * kKiB},
    {"sm_90a", 90, "H100 SXM", 132, 2048, 32, 228 * kKiB, 227 * kKiB},
    {"sm_100a", 100, "B200", 148, 2048, 32, 228 * kKiB, 227 * kKiB},
    {"sm_103a", 103, "B300", 148, 2048, 32, 228 * kKiB, 227 * kKiB},
    {"sm_110a", 110, "Jetson Thor", 20, 1536, 24, 228 * kKiB, 227 * kKiB},
    {"sm_120a", 120, "RTX 5090", 170, 1536, 24, 100 * kKiB, 99 * kKiB},
    {"sm_121a", 121, "GB10", 48, 1536, 24, 100 * kKiB, 99 * kKiB},
};

std::string_view without_suffix(std::string_view name) {
  while (!name.empty() && (name.back() < '0' || name.back() > '9')) name.remove_suffix(1);
  return name;
}

}  // namespace

bool Chip::runs(std::string_view target) const noexcept {
  if (!target.starts_with("sm_")) return false;
  std::uint32_t number = 0;
  const char* const end = target.data() + target.size();
  const auto [stop, error] = std::from_chars(target.data() + 3, end, number);
  if (error != std::errc{}) return false;
  const std::string_view suffix(stop, end);
  if (suffix == "a") return number == capability;
  if (suffix == "f") return number <= capability && number / 10 == capability / 10;
  return suffix.empty() && number <= capability;
}

std::span<const Chip> chips() { return kChips; }

const Chip* find_chip(std::string_view name) {
  const auto found = std::ranges::find_if(kChips, [&](const Chip& chip) {
    return chip.name == name || without_suffix(chip.name) == name;
  });
  return found == std::end(kChips) ? nullptr : found;
}

}  // namespace halftone::simulator

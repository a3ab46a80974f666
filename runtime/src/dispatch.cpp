// SPDX-License-Identifier: Apache-2.0
#include "dispatch.hpp"

#include <charconv>

namespace halftone {
namespace {

/// How well the target suits; larger is better, 0 not at all.
int suits(const Chip& chip, const Chip& target) {
  constexpr int kOwn = 1 << 20, kFamily = 1 << 10;
  if (target.number == chip.number) {
    if (chip.suffix && target.suffix && target.suffix != chip.suffix) return 0;
    return kOwn + (target.suffix == 'a' ? 2 : target.suffix == 'f' ? 1 : 0);
  }
  if (target.number > chip.number) return 0;
  if (target.suffix == 'a') return 0;
  if (target.suffix == 'f') {
    return target.number / 10 == chip.number / 10 ? kFamily + target.number : 0;
  }
  return target.number;
}

}  // namespace

std::optional<Chip> parse_chip(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  Chip chip;
  const char* end = name.data() + name.size();
  const auto [stop, failure] = std::from_chars(name.data() + kPrefix.size(), end, chip.number);
  if (failure != std::errc{} || chip.number <= 0 || end - stop > 1) return std::nullopt;
  if (stop != end) chip.suffix = *stop;
  if (chip.suffix != 0 && chip.suffix != 'a' && chip.suffix != 'f') return std::nullopt;
  return chip;
}

std::optional<std::size_t> choose_target(std::string_view chip,
                                         std::span<const std::string> targets) {
  const auto mine = parse_chip(chip);
  if (!mine) return std::nullopt;
  std::optional<std::size_t> best;
  int best_rank = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto target = parse_chip(targets[i]);
    const int rank = target ? suits(*mine, *target) : 0;
    if (rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

std::string architecture_for(std::string_view chip, std::string_view target) {
  const auto mine = parse_chip(chip), theirs = parse_chip(target);
  const bool own = mine && theirs && mine->number == theirs->number;
  return std::string(own ? target : chip);
}

}  // namespace halftone

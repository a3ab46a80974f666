// SPDX-License-Identifier: Apache-2.0
// The names of the cache's files. Whatever has another name is not the cache's, and is left alone.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "cache_entry.hpp"

namespace halftone {

inline constexpr std::string_view kEntrySuffix = ".kernel";
inline constexpr std::string_view kLockSuffix = ".lock";
inline constexpr std::string_view kTemporarySuffix = ".tmp";

[[nodiscard]] inline std::string entry_name(const CacheKey& key) {
  return hexadecimal(key) + std::string(kEntrySuffix);
}

enum class CacheName : std::uint8_t { entry, remains, foreign };

[[nodiscard]] inline CacheName kind_of(std::string_view name) {
  constexpr std::size_t kDigits = 2 * std::tuple_size_v<CacheKey>;
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (name.size() < kDigits || !std::ranges::all_of(name.substr(0, kDigits), digit)) {
    return CacheName::foreign;
  }
  const std::string_view rest = name.substr(kDigits);
  if (rest == kEntrySuffix) return CacheName::entry;
  const bool temporary = rest.starts_with('.') && rest.ends_with(kTemporarySuffix);
  return rest == kLockSuffix || temporary ? CacheName::remains : CacheName::foreign;
}

}  // namespace halftone

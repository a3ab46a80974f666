// SPDX-License-Identifier: Apache-2.0
#include "cache_settings.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "halftone/error.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(const char* variable, const std::string& value, const char* hint) {
  throw Error(
      {.operation = "settings", .object = variable, .cause = "is '" + value + "'", .hint = hint});
}

CacheMode mode_of(const std::string& text) {
  if (text.empty() || text == "rw") return CacheMode::read_write;
  if (text == "ro") return CacheMode::read_only;
  if (text == "off") return CacheMode::off;
  if (text == "refresh") return CacheMode::refresh;
  refuse("HALFTONE_CACHE", text, "give rw, ro, off or refresh, or unset it");
}

std::optional<std::uint64_t> unit_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix == "KiB") return std::uint64_t{1} << 10;
  if (suffix == "MiB") return std::uint64_t{1} << 20;
  if (suffix == "GiB") return std::uint64_t{1} << 30;
  return std::nullopt;
}

/// Nothing where the text is no size above 0.
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || count == 0) return std::nullopt;
  const auto unit = unit_of(text.substr(static_cast<std::size_t>(stop - text.data())));
  if (!unit || count > std::numeric_limits<std::uint64_t>::max() / *unit) return std::nullopt;
  return count * *unit;
}

bool absolute(const std::string& path) { return path.starts_with('/'); }

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();  // they would follow a link
  return path;
}

}  // namespace

CacheSettings cache_settings(const CacheEnvironment& environment) {
  CacheSettings settings;
  settings.mode = mode_of(environment.cache);
  if (!environment.cache_max.empty()) {
    const auto bytes = bytes_of(environment.cache_max);
    if (!bytes) {
      refuse("HALFTONE_CACHE_MAX", environment.cache_max,
             "give a size above 0 such as 512MiB (KiB, MiB, GiB, or bytes), or unset it");
    }
    settings.most_bytes = *bytes;
  }
  if (!environment.cache_dir.empty()) {
    settings.folder = without_last_slashes(environment.cache_dir);
  } else if (absolute(environment.xdg_cache_home)) {
    settings.folder = without_last_slashes(environment.xdg_cache_home) + "/halftone";
  } else if (absolute(environment.home)) {
    settings.folder = without_last_slashes(environment.home) + "/.cache/halftone";
  } else {
    settings.without_folder =
        "neither HALFTONE_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder; set one of them";
  }
  return settings;
}

}  // namespace halftone

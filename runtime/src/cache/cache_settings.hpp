// SPDX-License-Identifier: Apache-2.0
// What the user wants of the kernel cache.
#pragma once

#include <cstdint>
#include <string>

namespace halftone {

/// The environment's words; empty is unset.
struct CacheEnvironment {
  std::string cache = {};      ///< HALFTONE_CACHE
  std::string cache_dir = {};  ///< HALFTONE_CACHE_DIR
  std::string cache_max = {};  ///< HALFTONE_CACHE_MAX
  std::string xdg_cache_home = {}, home = {};
};

enum class CacheMode : std::uint8_t {
  read_write,
  read_only,  ///< changes nothing in the folder
  off,        ///< neither reads nor writes, nor keeps anything in memory
  refresh,    ///< compiles every kernel once more and stores it
};

struct CacheSettings {
  CacheMode mode = CacheMode::read_write;
  std::string folder;          ///< without a slash at its end; empty where there is none
  std::string without_folder;  ///< then why: a sentence
  std::uint64_t most_bytes = std::uint64_t{1} << 30;

  friend bool operator==(const CacheSettings&, const CacheSettings&) = default;
};

/// HALFTONE_CACHE_DIR, else XDG_CACHE_HOME/halftone, else HOME/.cache/halftone; the last two only
/// where they are absolute. Throws Error on values of HALFTONE_CACHE and HALFTONE_CACHE_MAX that
/// are none.
[[nodiscard]] CacheSettings cache_settings(const CacheEnvironment& environment);

}  // namespace halftone

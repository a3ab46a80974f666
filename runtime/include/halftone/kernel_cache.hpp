// SPDX-License-Identifier: Apache-2.0
// What the cache of compiled kernels did in this process. It never fails and never prints; whatever
// kept it from working is here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

namespace halftone {

/// Why a kernel had to be compiled.
enum class CacheMiss : std::uint8_t {
  off,           ///< HALFTONE_CACHE=off
  refreshed,     ///< HALFTONE_CACHE=refresh
  no_folder,     ///< there is no folder that could be used
  absent,        ///< nobody stored it
  unreadable,    ///< the system refused to open or read the entry
  not_ours,      ///< the entry is a link, no file, or another user could have written it
  damaged,       ///< the entry is cut short or altered
  other_format,  ///< the entry is of another version of the cache
  other_kernel,  ///< the entry is whole, but of another kernel
};
inline constexpr std::size_t kCacheMissKinds = 9;

/// "absent"
[[nodiscard]] std::string_view text_of(CacheMiss miss) noexcept;

struct KernelCacheStatistics {
  std::string folder;      ///< where entries lie; empty where kernels are kept in memory alone
  std::string reason;      ///< why nothing is read or written there: one sentence, or empty
  std::uint64_t hits = 0;  ///< kernels that came from the folder
  std::uint64_t memory_hits = 0;                        ///< that this process had made before
  std::array<std::uint64_t, kCacheMissKinds> misses{};  ///< by CacheMiss
  std::uint64_t stored = 0;                             ///< entries written
  std::uint64_t not_stored = 0;     ///< entries that could not be written, or need not be
  std::uint64_t removed = 0;        ///< entries taken away since they could not be believed
  std::uint64_t evicted = 0;        ///< entries taken away for the limit's sake
  std::uint64_t reaped = 0;         ///< remains of processes that ended while they wrote
  std::uint64_t lock_timeouts = 0;  ///< kernels compiled although another process was at it

  [[nodiscard]] std::uint64_t missed(CacheMiss miss) const noexcept {
    return misses[static_cast<std::size_t>(miss)];
  }
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return std::accumulate(misses.begin(), misses.end(), std::uint64_t{0});
  }

  /// One line: "/home/ada/.cache/halftone: 7 hits, 2 misses (2 absent)".
  [[nodiscard]] std::string text() const;
};

/// Of this process, all devices together. Throws Error where HALFTONE_CACHE or HALFTONE_CACHE_MAX
/// is none of the values in docs/cache.md.
[[nodiscard]] KernelCacheStatistics kernel_cache_statistics();

}  // namespace halftone

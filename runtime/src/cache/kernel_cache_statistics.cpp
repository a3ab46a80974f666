// SPDX-License-Identifier: Apache-2.0
#include "halftone/kernel_cache.hpp"
#include "kernel_cache.hpp"

namespace halftone {
namespace {

constexpr std::array<std::string_view, kCacheMissKinds> kMissTexts = {
    "off",      "refreshed", "no folder",    "absent",      "unreadable",
    "not ours", "damaged",   "other format", "other kernel"};

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

std::string_view text_of(CacheMiss miss) noexcept {
  return kMissTexts[static_cast<std::size_t>(miss)];
}

std::string KernelCacheStatistics::text() const {
  std::string reasons;
  for (std::size_t i = 0; i < kCacheMissKinds; ++i) {
    if (misses[i] == 0) continue;
    reasons += (reasons.empty() ? " (" : ", ") + std::to_string(misses[i]) + " " +
               std::string(kMissTexts[i]);
  }
  return (folder.empty() ? "no folder" : folder) + ": " +
         counted(hits + memory_hits, "hit", "hits") + ", " + counted(missed(), "miss", "misses") +
         reasons + (reasons.empty() ? "" : ")") + (reason.empty() ? "" : "; " + reason);
}

KernelCacheStatistics kernel_cache_statistics() { return process_kernel_cache()->statistics(); }

}  // namespace halftone

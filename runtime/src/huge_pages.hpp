// SPDX-License-Identifier: Apache-2.0
// Memory in pages of 2 MiB, of which a processor looks up fewer and a system hands out fewer.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace halftone {

/// Of x86-64, and of aarch64 with pages of 4 KiB.
inline constexpr std::int64_t kHugePage = 2 << 20;

/// A wish for those that lie whole in this memory: where it is not granted the memory is as good.
inline void ask_for_huge_pages([[maybe_unused]] void* address, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr auto kMask = static_cast<std::uintptr_t>(kHugePage) - 1;
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = (start + kMask) & ~kMask, last = (start + bytes) & ~kMask;
  if (first < last)
    madvise(static_cast<std::byte*>(address) + (first - start), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace halftone

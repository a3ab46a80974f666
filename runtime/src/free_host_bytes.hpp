// SPDX-License-Identifier: Apache-2.0
// How much memory the host has left for this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace halftone {

/// MemAvailable of /proc/meminfo, or what the tightest limit on the process's control group (cgroup
/// v2) and those around it leaves, files that nobody used lately counted as free (Linux,
/// Documentation/admin-guide/cgroup-v2.rst). Nothing where /proc/meminfo does not say it. `root` is
/// where proc and sys lie.
[[nodiscard]] std::optional<std::int64_t> free_host_bytes(const std::filesystem::path& root = "/");

}  // namespace halftone

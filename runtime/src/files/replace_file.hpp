// SPDX-License-Identifier: Apache-2.0
// Files that are replaced as a whole: at every moment, also one at which the process or the machine
// ends, the old one or the new one is there. And files read as a whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "file_calls.hpp"

namespace halftone {

/// Writes FILE.saving, makes it durable and renames it to FILE; then FILE.1 to FILE.`keep` are the
/// files that were there before, the latest first. Throws Error, and leaves FILE as it was, when
/// that cannot be done or another save to FILE is under way. What a process that was killed left
/// behind, the next one removes. `operation` opens the errors.
void replace_file(FileCalls& calls, const char* operation, const std::filesystem::path& file,
                  std::span<const std::string_view> parts, int keep);

/// The same, written by `write`, which calls what it gets with one part after the other.
void replace_file_in_parts(
    FileCalls& calls, const char* operation, const std::filesystem::path& file,
    const std::function<void(const std::function<void(std::string_view)>&)>& write, int keep);

/// Throws Error where it is no regular file or cannot be read.
[[nodiscard]] std::vector<std::byte> read_file(FileCalls& calls, const char* operation,
                                               const std::filesystem::path& file);

}  // namespace halftone

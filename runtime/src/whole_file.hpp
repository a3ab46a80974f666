// SPDX-License-Identifier: Apache-2.0
// A file's bytes, or the system's words about why there are none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace halftone {

/// `why` is empty where all was read; remedy_for() knows what to do about it.
[[nodiscard]] std::vector<std::byte> read_whole(const std::filesystem::path& path,
                                                std::string& why);

}  // namespace halftone

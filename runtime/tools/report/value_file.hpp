// SPDX-License-Identifier: Apache-2.0
// What is counted of a value, read back from run logs and bisect.json.
#pragma once

#include <nlohmann/json.hpp>

#include "halftone/value_statistics.hpp"

namespace halftone::tools {

/// Numbers, and the words for those that JSON has not. Throws json::exception where it is neither,
/// or std::runtime_error.
[[nodiscard]] double number_or_word(const nlohmann::json& value);

/// Likewise; of a file that was written before there were magnitudes of what is rounded they are
/// empty.
[[nodiscard]] ValueStatistics value_from(const nlohmann::json& from);

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
// Pieces of objects as words for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace halftone::tools {

using Json = nlohmann::ordered_json;

/// With control characters, which names in a file may hold, as \x1b: a line stays one, or with
/// `keeps_lines` they all do.
[[nodiscard]] std::string printable(const std::string& text, bool keeps_lines = false);

/// A word as it is, a number as digits, null as "-".
[[nodiscard]] std::string plain(const Json& json);

/// "-" where there are none.
[[nodiscard]] std::string joined(const Json& items, const char* between);

/// "7", or "default".
[[nodiscard]] std::string word_of_rule(const Json& rule);

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
// The text form of a Description: the file format between the dsl and codegen. Grammar: docs/spec/description.md.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "halftone/description/description.hpp"

namespace halftone::description {

/// Where and why a text is not a Description; line and column count from 1.
struct ParseError {
  int line = 1, column = 1;
  std::string message;

  /// "file:line:column: message"
  [[nodiscard]] std::string str(std::string_view file) const;
};

[[nodiscard]] std::string print(const Description& description);

/// Reads what print writes and validates it (validate.hpp). Never throws on bad input.
[[nodiscard]] std::variant<Description, ParseError> parse(std::string_view text);

}  // namespace halftone::description

// SPDX-License-Identifier: Apache-2.0
// The text form of a Description: the file format between the dsl and codegen. Grammar:
// docs/spec/description.md.
#pragma once

#include <optional>
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

/// D13: print without rules, optimizer, clips, schedule and average: what an artifact and the
/// program that loads it must agree in.
[[nodiscard]] std::string print_structure(const Description& description);

/// A rule as its statement spells it, without the word "rule".
[[nodiscard]] std::string rule_text(const Rule& rule);

/// "linear", as the text form spells a node's kind; and back, or nothing for another word.
[[nodiscard]] std::string_view kind_text(Kind kind);
[[nodiscard]] std::optional<Kind> kind_of(std::string_view word);

/// Reads what print writes and validates it (validate.hpp). Never throws on bad input.
[[nodiscard]] std::variant<Description, ParseError> parse(std::string_view text);

/// Puts the rules of a file in the place of `description`'s own and validates it: rule statements
/// as in a description, at least one, and comments. The description is left as it was on an error.
[[nodiscard]] std::optional<ParseError> replace_rules(Description& description,
                                                      std::string_view text);

/// Reads what rule_text writes. What a rule means is checked with its description, not here.
[[nodiscard]] std::variant<Rule, ParseError> parse_rule(std::string_view text);

}  // namespace halftone::description

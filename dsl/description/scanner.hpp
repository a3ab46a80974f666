// SPDX-License-Identifier: Apache-2.0
// Reads the words, names, numbers and strings of the text form, a line at a time, and holds the
// error that ends the reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "halftone/description/text.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {

struct Position {
  int line = 1, column = 1;
};

/// Every reader first skips blanks. Those that return bool leave an error behind when they return
/// false.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Where the next token starts.
  Position position();
  bool at_end() const { return at_ == text_.size(); }
  bool at_end_of_line();
  /// Moves past the rest of empty lines to the next token; false at the end of the text.
  bool next_statement();

  char peek();
  bool take(char byte);                   // without an error
  bool take_word(std::string_view word);  // without an error

  bool expect(char byte);
  bool expect_word(std::string_view word);
  bool expect_end_of_line();
  /// A run of letters, digits and `_ . + -`; `what` says what was expected.
  bool read_word(std::string_view& word, std::string_view what);
  /// `%` and a name; without the `%`.
  bool read_name(std::string_view& name, std::string_view what);
  bool read_string(std::string& value, std::string_view what);
  bool read_number(double& value, std::string_view what);
  bool read_integer(std::int64_t& value, std::string_view what);
  /// `%` and a number.
  bool read_reference(std::int32_t& value);
  /// A word of the enum; an error names those for which `fits` holds.
  template <typename Enum>
  bool read_enum(Enum& value, std::string_view what, bool (*fits)(Enum) = nullptr);

  bool fail(Position position, std::string message);
  /// "expected WHAT, but met the next token"
  bool unexpected(std::string_view what);
  std::optional<ParseError>& error() { return error_; }

 private:
  void skip_blanks();
  std::string_view run(bool (*accepts)(char)) const;
  void advance(std::size_t count);
  std::string met();
  bool read_escape(std::string& value);

  std::string_view text_;
  std::size_t at_ = 0;
  Position position_;
  std::optional<ParseError> error_;
};

template <typename Enum>
bool Scanner::read_enum(Enum& value, std::string_view what, bool (*fits)(Enum)) {
  const Position start = position();
  std::string_view word;
  if (!read_word(word, what)) return false;
  const auto found = enum_of<Enum>(word);
  if (found) {
    value = *found;
    return true;
  }
  std::string choices;
  const auto all = words(Enum{});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (fits && !fits(static_cast<Enum>(i))) continue;
    choices.append(choices.empty() ? "" : ", ").append(all[i]);
  }
  return fail(start, "expected " + std::string(what) + ", one of " + choices + ", but met " +
                         quoted(word.substr(0, 32)));
}

}  // namespace halftone::description::detail

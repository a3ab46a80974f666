// SPDX-License-Identifier: Apache-2.0
// Pieces of statements, for the two files that read them.
#pragma once

#include <optional>

#include "syntax.hpp"

namespace halftone::simulator::syntax {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '%' || c == '.' || c == ':';
}

[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Splits at `separator` outside brackets.
[[nodiscard]] std::vector<std::string_view> split_outside(std::string_view text, char separator);
/// Decimal, 0x, 0b and octal numbers, with a sign.
[[nodiscard]] std::optional<std::uint64_t> integer_of(std::string_view text);
/// `depth`: how many operands this one lies in.
[[nodiscard]] Operand parse_operand(std::string_view text, std::uint32_t line, int depth = 0);
/// Throws Error.
[[noreturn]] void fail(std::uint32_t line, const std::string& what);

}  // namespace halftone::simulator::syntax

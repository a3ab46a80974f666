// SPDX-License-Identifier: Apache-2.0
#include "spelling.hpp"

#include <algorithm>
#include <charconv>

namespace halftone::description::detail {
namespace {

bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

std::string spelled(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string spelled(const Dimension& dimension) {
  if (dimension.symbol.empty()) return std::to_string(dimension.extent);
  std::string text = dimension.factor == 1 ? "" : std::to_string(dimension.factor) + "*";
  text += dimension.symbol;
  if (dimension.extent > 0) text += " + " + std::to_string(dimension.extent);
  if (dimension.extent < 0) text += " - " + std::to_string(-dimension.extent);
  return text;
}

std::string spelled(const Shape& shape) {
  std::string text = "[";
  for (const Dimension& dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += spelled(dimension);
  }
  return text + "]";
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

bool is_name_byte(char byte) {
  return is_letter(byte) || is_digit(byte) || byte == '.' || byte == '/' || byte == '-';
}

bool is_symbol(std::string_view symbol) {
  return !symbol.empty() && !is_digit(symbol.front()) &&
         std::all_of(symbol.begin(), symbol.end(),
                     [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace halftone::description::detail

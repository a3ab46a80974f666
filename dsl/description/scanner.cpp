// SPDX-License-Identifier: Apache-2.0
#include "scanner.hpp"

#include <charconv>
#include <cmath>

namespace halftone::description::detail {
namespace {

constexpr std::size_t kLongestQuote = 32;  // bytes of a token that a message repeats

bool is_word_byte(char byte) { return (is_name_byte(byte) && byte != '/') || byte == '+'; }

bool is_printable(char byte) { return byte > ' ' && byte < 0x7f; }

int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

}  // namespace

void Scanner::advance(std::size_t count) {
  at_ += count;
  position_.column += static_cast<int>(count);
}

void Scanner::skip_blanks() {
  while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) advance(1);
  if (!at_end() && text_[at_] == '#') {
    const std::size_t end = text_.find('\n', at_);
    advance((end == text_.npos ? text_.size() : end) - at_);
  }
}

std::string_view Scanner::run(bool (*accepts)(char)) const {
  std::size_t end = at_;
  while (end < text_.size() && accepts(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

Position Scanner::position() {
  skip_blanks();
  return position_;
}

char Scanner::peek() {
  skip_blanks();
  return at_end() ? '\0' : text_[at_];
}

bool Scanner::at_end_of_line() {
  skip_blanks();
  return at_end() || text_[at_] == '\n';
}

bool Scanner::next_statement() {
  while (at_end_of_line() && !at_end()) {
    ++at_;
    position_ = {position_.line + 1, 1};
  }
  return !at_end();
}

bool Scanner::take(char byte) {
  if (at_end_of_line() || text_[at_] != byte) return false;
  advance(1);
  return true;
}

bool Scanner::take_word(std::string_view word) {
  skip_blanks();
  if (run(is_word_byte) != word) return false;
  advance(word.size());
  return true;
}

bool Scanner::expect(char byte) { return take(byte) || unexpected(std::string{'\'', byte, '\''}); }

bool Scanner::expect_word(std::string_view word) {
  return take_word(word) || unexpected(std::string("'").append(word).append("'"));
}

bool Scanner::expect_end_of_line() { return at_end_of_line() || unexpected("the end of the line"); }

bool Scanner::read_word(std::string_view& word, std::string_view what) {
  skip_blanks();
  word = run(is_word_byte);
  if (word.empty()) return unexpected(what);
  advance(word.size());
  return true;
}

bool Scanner::read_name(std::string_view& name, std::string_view what) {
  const Position start = position();
  if (!take('%')) return unexpected(what);
  name = run(is_name_byte);
  if (name.empty()) {
    return fail(start, "a name of letters, digits and _ . / - must follow '%' at once");
  }
  advance(name.size());
  return true;
}

bool Scanner::read_string(std::string& value, std::string_view what) {
  const Position start = position();
  if (!take('"')) return unexpected(what);
  value.clear();
  while (!at_end() && text_[at_] != '\n' && text_[at_] != '"') {
    if (text_[at_] == '\\') {
      if (!read_escape(value)) return false;
    } else {
      value += text_[at_];
      advance(1);
    }
  }
  if (at_end() || text_[at_] == '\n') {
    return fail(start, "this string has no closing '\"' on its line");
  }
  advance(1);
  return true;
}

bool Scanner::read_escape(std::string& value) {
  const std::string_view rest = text_.substr(at_ + 1, 3);
  const char kind = rest.empty() ? '\0' : rest[0];
  if (kind == 'x' && rest.size() == 3 && hex_digit(rest[1]) >= 0 && hex_digit(rest[2]) >= 0) {
    value += static_cast<char>(hex_digit(rest[1]) * 16 + hex_digit(rest[2]));
    advance(4);
    return true;
  }
  constexpr std::string_view kKinds = "\"\\nrt", kBytes = "\"\\\n\r\t";
  const std::size_t index = kKinds.find(kind);
  if (index == kKinds.npos) {
    return fail(position_, "unknown escape in a string; write \\\", \\\\, \\n, \\r, \\t or \\xHH");
  }
  value += kBytes[index];
  advance(2);
  return true;
}

bool Scanner::read_number(double& value, std::string_view what) {
  const Position start = position();
  std::string_view word;
  if (!read_word(word, what)) return false;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string shown = quoted(word.substr(0, kLongestQuote));
  if (problem == std::errc::result_out_of_range) {
    return fail(start, shown + " does not fit a double; write a number nearer to 1");
  }
  if (problem != std::errc() || end != word.data() + word.size() || std::isnan(value)) {
    return fail(start, "expected " + std::string(what) + ", but met " + shown);
  }
  return true;
}

bool Scanner::read_integer(std::int64_t& value, std::string_view what) {
  const Position start = position();
  std::string_view word;
  if (!read_word(word, what)) return false;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string shown = quoted(word.substr(0, kLongestQuote));
  if (problem == std::errc::result_out_of_range) {
    return fail(start, shown + " does not fit 64 bits; write a smaller integer");
  }
  if (problem != std::errc() || end != word.data() + word.size()) {
    return fail(start, "expected " + std::string(what) + ", but met " + shown);
  }
  return true;
}

bool Scanner::read_reference(std::int32_t& value) {
  const Position start = position();
  std::string_view name;
  if (!read_name(name, "an instruction such as %0")) return false;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (problem != std::errc() || end != name.data() + name.size()) {
    return fail(start, "expected the number of an instruction after '%', but met " +
                           quoted(name.substr(0, kLongestQuote)));
  }
  return true;
}

bool Scanner::fail(Position position, std::string message) {
  error_ = ParseError{position.line, position.column, std::move(message)};
  return false;
}

bool Scanner::unexpected(std::string_view what) {
  const Position start = position();
  return fail(start, "expected " + std::string(what) + ", but met " + met());
}

std::string Scanner::met() {
  if (at_end()) return "the end of the text";
  if (text_[at_] == '\n') return "the end of the line";
  std::string_view token = run(is_word_byte);
  if (token.empty()) {
    std::size_t end = at_ + 1;
    while (text_[at_] == '%' && end < text_.size() && is_name_byte(text_[end])) ++end;
    token = text_.substr(at_, end - at_);
  }
  if (is_printable(token.front())) return quoted(token.substr(0, kLongestQuote));
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(token.front());
  return std::string("the byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
}

}  // namespace halftone::description::detail

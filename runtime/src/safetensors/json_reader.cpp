// SPDX-License-Identifier: Apache-2.0
#include "json_reader.hpp"

#include <charconv>
#include <utility>

#include "../utf8.hpp"

namespace halftone::safetensors {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    tail(12), tail(6), tail(0);
  }
}

bool is_surrogate(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xe000; }

}  // namespace

bool JsonReader::fail(std::string fault) {
  if (fault_.empty()) fault_ = std::move(fault) + " at byte " + std::to_string(at_);
  return false;
}

void JsonReader::skip_space() {
  while (at_ < text_.size() &&
         std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
    ++at_;
}

bool JsonReader::next_is(char token) {
  skip_space();
  return at_ < text_.size() && text_[at_] == token;
}

bool JsonReader::expect(char token) {
  if (!next_is(token)) return fail(std::string("lacks '") + token + "'");
  ++at_;
  return true;
}

bool JsonReader::items(char open, char close, const std::function<bool()>& item) {
  if (!expect(open)) return false;
  if (next_is(close)) return expect(close);
  while (true) {
    if (!item()) return fail("is wrong");
    if (next_is(close)) return expect(close);
    if (!expect(',')) return false;
  }
}

bool JsonReader::object(const std::function<bool(std::string name)>& member) {
  return items('{', '}', [&] {
    std::string name;
    return string(name) && expect(':') && member(std::move(name));
  });
}

bool JsonReader::array(const std::function<bool()>& element) { return items('[', ']', element); }

bool JsonReader::string(std::string& value) {
  value.clear();
  if (!expect('"')) return false;
  while (at_ < text_.size() && text_[at_] != '"')
    if (!(text_[at_] == '\\' ? escape(value) : character(value))) return false;
  return expect('"');
}

bool JsonReader::character(std::string& value) {
  if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("has a control character");
  const std::size_t length = utf8_length(text_.substr(at_));
  if (length == 0) return fail("is not UTF-8");
  value += text_.substr(at_, length);
  at_ += length;
  return true;
}

bool JsonReader::escape(std::string& value) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  ++at_;
  const char kind = at_ < text_.size() ? text_[at_] : ' ';
  if (const std::size_t found = kEscapes.find(kind); found != kEscapes.npos) {
    ++at_;
    value += kMeant[found];
    return true;
  }
  if (kind != 'u') return fail("has an escape that JSON does not know");
  std::uint32_t code = 0, low = 0;
  if (!code_unit(code)) return false;
  if (is_surrogate(code)) {
    const bool pairs = code < 0xdc00 && at_ < text_.size() && text_[at_] == '\\' && ++at_ &&
                       code_unit(low) && is_surrogate(low) && low >= 0xdc00;
    if (!pairs) return fail("has half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(value, code);
  return true;
}

/// "uXXXX"
bool JsonReader::code_unit(std::uint32_t& unit) {
  const std::string_view digits = text_.substr(at_).substr(0, 5);
  const auto [end, error] = std::from_chars(digits.data() + (digits.empty() ? 0 : 1),
                                            digits.data() + digits.size(), unit, 16);
  const bool whole = digits.size() == 5 && digits[0] == 'u' && digits[1] != '-' &&
                     error == std::errc{} && end == digits.data() + digits.size();
  if (!whole) return fail("has an escape without four hexadecimal digits");
  at_ += digits.size();
  return true;
}

bool JsonReader::number(std::uint64_t& value) {
  skip_space();
  const std::string_view rest = text_.substr(at_);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const auto length = static_cast<std::size_t>(end - rest.data());
  const bool leads_with_zero = length > 1 && rest[0] == '0';
  const bool goes_on =
      length < rest.size() && std::string_view(".eE").find(rest[length]) != std::string_view::npos;
  if (error != std::errc{} || length == 0 || leads_with_zero || goes_on)
    return fail("lacks a whole number below 2^64");
  at_ += length;
  return true;
}

bool JsonReader::end() {
  skip_space();
  return at_ == text_.size() || fail("goes on behind its end");
}

}  // namespace halftone::safetensors

// SPDX-License-Identifier: Apache-2.0
#include "word_end.hpp"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>

#include "utf8.hpp"

namespace halftone::tokens {
namespace {

enum class Kind : std::uint8_t { other, letter, number, space };

struct Character {
  Kind kind;
  std::size_t bytes;
};

constexpr std::array<Kind, 128> ascii_kinds() {
  std::array<Kind, 128> kinds{};
  for (unsigned c = '0'; c <= '9'; ++c) kinds[c] = Kind::number;
  for (unsigned c = 'a'; c <= 'z'; ++c) kinds[c] = kinds[c - 'a' + 'A'] = Kind::letter;
  for (unsigned c = '\t'; c <= '\r'; ++c) kinds[c] = Kind::space;
  kinds[' '] = Kind::space;
  return kinds;
}
constexpr std::array<Kind, 128> kAscii = ascii_kinds();

Kind kind_of(UChar32 code) {
  const std::uint32_t category = U_GET_GC_MASK(code);
  if (category & U_GC_L_MASK) return Kind::letter;
  if (category & U_GC_N_MASK) return Kind::number;
  return u_isUWhiteSpace(code) ? Kind::space : Kind::other;
}

Character beyond_ascii(std::string_view text, std::size_t at) {
  const std::size_t bytes = utf8_length(text.substr(at, 4));
  if (bytes == 0) return {Kind::other, 1};
  UChar32 code = static_cast<unsigned char>(text[at]) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  return {kind_of(code), bytes};
}

inline Character character_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {kAscii[byte], 1};
  return beyond_ascii(text, at);
}

/// The bytes of 's, 't, 're, 've, 'm, 'll or 'd; 0 for none.
std::size_t contraction(std::string_view text) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  const char first = text[1], second = text.size() > 2 ? text[2] : ' ';
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const bool is_long =
      (first == 'l' && second == 'l') || ((first == 'r' || first == 'v') && second == 'e');
  return is_long ? 3 : 0;
}

/// Of white space: all but the last one, which belongs to what follows, where something does.
std::size_t space_end(std::string_view text, std::size_t begin) {
  std::size_t last = begin;
  for (std::size_t at = begin; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.kind != Kind::space) return last == begin ? at : last;
    last = at;
    at += character.bytes;
  }
  return text.size();
}

}  // namespace

std::size_t word_end(std::string_view text, std::size_t begin) {
  if (const std::size_t bytes = contraction(text.substr(begin, 3))) return begin + bytes;
  std::size_t at = begin;
  Character character = character_at(text, at);
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    const Character next = character_at(text, begin + 1);
    if (next.kind != Kind::space) {
      at = begin + 1;
      character = next;
    }
  }
  if (character.kind == Kind::space) return space_end(text, begin);
  const Kind kind = character.kind;
  for (at += character.bytes; at < text.size(); at += character.bytes) {
    character = character_at(text, at);
    if (character.kind != kind) break;
  }
  return at;
}

}  // namespace halftone::tokens

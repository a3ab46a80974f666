// SPDX-License-Identifier: Apache-2.0
#include "byte_characters.hpp"

#include "utf8.hpp"

namespace halftone::tokens {
namespace {

constexpr unsigned kFirstOfOthers = 0x100, kCharacters = 0x144;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
}

struct Tables {
  std::array<std::uint16_t, 256> code{};  ///< by byte
  std::array<std::int16_t, kCharacters> byte{};
  std::array<std::uint8_t, 256> in_order{};

  constexpr Tables() {
    byte.fill(-1);
    unsigned next = kFirstOfOthers, place = 0;
    for (unsigned b = 0; b < 256; ++b)
      code[b] = static_cast<std::uint16_t>(stands_for_itself(b) ? b : next++);
    for (unsigned b = 0; b < 256; ++b) byte[code[b]] = static_cast<std::int16_t>(b);
    for (const std::int16_t b : byte)
      if (b >= 0) in_order[place++] = static_cast<std::uint8_t>(b);
  }
};
constexpr Tables kTables;

}  // namespace

const std::array<std::uint8_t, 256>& bytes_in_order() { return kTables.in_order; }

std::string characters_of(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes) {
    const unsigned code = kTables.code[static_cast<unsigned char>(byte)];
    if (code < 0x80) {
      characters += static_cast<char>(code);
    } else {
      characters += static_cast<char>(0xc0 | code >> 6);
      characters += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return characters;
}

std::optional<std::string> bytes_of(std::string_view characters) {
  std::string bytes;
  for (std::size_t at = 0; at < characters.size();) {
    const std::size_t length = utf8_length(characters.substr(at));
    const auto part = [&](std::size_t i) {
      return static_cast<unsigned>(static_cast<unsigned char>(characters[at + i]));
    };
    const unsigned code = length == 1   ? part(0)
                          : length == 2 ? (part(0) & 0x1f) << 6 | (part(1) & 0x3f)
                                        : kCharacters;
    if (code >= kCharacters || kTables.byte[code] < 0) return std::nullopt;
    bytes += static_cast<char>(kTables.byte[code]);
    at += length;
  }
  return bytes;
}

}  // namespace halftone::tokens

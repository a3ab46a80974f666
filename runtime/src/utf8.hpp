// SPDX-License-Identifier: Apache-2.0
// Text from elsewhere as UTF-8, and as strings of JSON (RFC 8259).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halftone {

/// The bytes of the character of UTF-8 that `text` begins with (RFC 3629: the shortest form, no
/// surrogates, at most U+10FFFF); 0 for none.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2   ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character =
      (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return too_long || no_character ? 0 : length;
}

/// Appends `text`, which is UTF-8, as a string of JSON.
inline void append_json_text(std::string& json, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (json += '\\') += c;
    } else if (byte < 0x20) {
      (((json += "\\u00") += kDigits[byte >> 4])) += kDigits[byte & 15];
    } else {
      json += c;
    }
  }
  json += '"';
}

}  // namespace halftone

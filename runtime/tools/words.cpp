// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

namespace halftone::tools {

std::string printable(const std::string& text, bool keeps_lines) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string result;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if ((code >= 0x20 && code != 0x7f) || (keeps_lines && letter == '\n')) {
      result += letter;
    } else {
      result += {'\\', 'x', kDigits[code / 16], kDigits[code % 16]};
    }
  }
  return result;
}

std::string plain(const Json& json) {
  if (json.is_null()) return "-";
  return json.is_string() ? printable(json.get<std::string>()) : json.dump();
}

std::string joined(const Json& items, const char* between) {
  std::string text;
  for (const Json& item : items) text += (text.empty() ? "" : between) + plain(item);
  return text.empty() ? "-" : text;
}

std::string word_of_rule(const Json& rule) { return rule.is_null() ? "default" : rule.dump(); }

}  // namespace halftone::tools

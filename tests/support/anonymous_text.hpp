// SPDX-License-Identifier: Apache-2.0
// What of a kernel's text names and sizes cannot change.
#pragma once

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <string_view>

namespace halftone::tests {

/// `text` without what its first line says and with another name for its entry. Lines keep their
/// numbers.
inline std::string anonymous(std::string text) {
  text.erase(0, text.find('\n'));
  const std::string prefix = "halftone_";
  const std::size_t declared = text.rfind("extern \"C\"");
  const std::size_t begin = declared == text.npos ? text.npos : text.find(prefix, declared);
  if (begin == text.npos) return text;
  const std::size_t end = text.find('(', begin);
  return text.replace(begin, end - begin, prefix + "kernel");
}

/// The end of the literal at the beginning of `text`: "64LL", "0x1p-3f", "1e-05f".
inline std::size_t literal_end(std::string_view text) {
  std::size_t i = 0;
  const auto is_of_it = [&] {
    const char c = text[i];
    const bool is_sign = (c == '-' || c == '+') && i > 0 &&
                         std::string_view("eEpP").find(text[i - 1]) != std::string_view::npos;
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || is_sign;
  };
  while (i < text.size() && is_of_it()) ++i;
  return i;
}

/// What of 8 divides a whole number, which decides how wide rows are read and where their ends are
/// masked, and how many levels of chunks of 1024 a sum over as many has, which decides who adds.
inline std::string kind_of_size(std::string_view digits) {
  const long long number = std::stoll(std::string(digits));
  const int levels = number <= 1024 ? 1 : number <= 1024 * 1024 ? 2 : 3;
  return "multiple of " + std::to_string(std::gcd(number, 8LL)) + " in " + std::to_string(levels);
}

/// anonymous(), and of every whole number of the Body its kind. The skeleton's plan stays.
inline std::string without_sizes(const std::string& text) {
  const std::string all = anonymous(text);
  const std::size_t body = std::min(all.rfind("struct Body {"), all.size());
  const std::size_t plan = std::min(all.rfind("::run<Body"), all.size());
  std::string alike = all.substr(0, body);
  for (std::size_t i = body; i < plan;) {
    std::string_view word = std::string_view(all).substr(i, plan - i);
    const bool is_number = std::isdigit(static_cast<unsigned char>(word.front()));
    word = word.substr(0, std::max<std::size_t>(1, literal_end(word)));  // a name, too
    i += word.size();
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    const std::string_view unit = word.substr(digits);
    if (is_number && (unit.empty() || unit == "LL")) {
      alike += kind_of_size(word.substr(0, digits)) + std::string(unit);
    } else {
      alike += word;
    }
  }
  return alike + all.substr(plan);
}

}  // namespace halftone::tests

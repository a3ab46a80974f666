// SPDX-License-Identifier: Apache-2.0
// Pieces of the sentences that errors are made of.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

/// input 'pixels'
[[nodiscard]] inline std::string named(std::string_view kind, std::string_view name) {
  return std::string(kind) + " '" + std::string(name) + "'";
}

/// 'pixels', where the name comes from strangers: one line of at most 80 bytes.
[[nodiscard]] inline std::string shown(std::string_view name) {
  std::string text = "'";
  for (const char c : name.substr(0, 80)) text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return text + (name.size() > 80 ? "...'" : "'");
}

/// With the fewest digits that read back: "0.001".
[[nodiscard]] inline std::string number_text(std::floating_point auto value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// 24 x 10
[[nodiscard]] inline std::string extents_text(std::span<const std::int64_t> extents) {
  std::string text;
  for (const std::int64_t extent : extents) {
    if (!text.empty()) text += " x ";
    text += std::to_string(extent);
  }
  return text;
}

/// A share as "12.5 %", with three digits.
[[nodiscard]] inline std::string percent_text(double share) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, 100 * share, std::chars_format::general, 3);
  return std::string(text, end.ptr) + " %";
}

/// 'pixels', 'digit'; or "none".
template <class Names>
[[nodiscard]] std::string listed(const Names& names) {
  std::string text;
  for (const auto& name : names) {
    text += text.empty() ? "'" : ", '";
    text += name;
    text += '\'';
  }
  return text.empty() ? "none" : text;
}

template <class Texts>
[[nodiscard]] std::string joined(const Texts& texts, std::string_view between) {
  std::string text;
  for (const auto& each : texts) {
    if (&each != &*std::begin(texts)) text += between;
    text += each;
  }
  return text;
}

}  // namespace halftone

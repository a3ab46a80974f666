// SPDX-License-Identifier: Apache-2.0
// Pieces of the sentences that errors are made of.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

namespace halftone {

/// input 'pixels'
[[nodiscard]] inline std::string named(std::string_view kind, std::string_view name) {
  return std::string(kind) + " '" + std::string(name) + "'";
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

// SPDX-License-Identifier: Apache-2.0
#include "csv_values.hpp"

#include <charconv>
#include <cmath>

namespace halftone::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  text = text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return has_plus ? text.substr(1) : text;
}

template <class Number>
std::errc read_all(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

}  // namespace

const char* read_number(std::string_view text, float& value) {
  text = trimmed(text);
  if (text.empty()) return "is missing";
  std::errc error = read_all(text, value);
  if (error == std::errc::result_out_of_range) {  // too large, or too near to 0 to be normal
    double wide = 0.0;
    error = read_all(text, wide);
    value = static_cast<float>(wide);
  }
  if (error == std::errc::invalid_argument) return "is no number";
  if (error != std::errc{}) return "is out of the range of f32";
  if (std::isnan(value)) return "is missing";
  if (std::isinf(value)) return "is out of the range of f32";
  return nullptr;
}

const char* read_number(std::string_view text, std::int32_t& value) {
  text = trimmed(text);
  if (text.empty()) return "is missing";
  const std::errc error = read_all(text, value);
  if (error == std::errc::invalid_argument) return "is no whole number";
  if (error != std::errc{}) return "is out of the range of i32";
  return nullptr;
}

}  // namespace halftone::data

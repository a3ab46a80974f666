// SPDX-License-Identifier: Apache-2.0
#include "csv_values.hpp"

#include <charconv>
#include <cmath>

namespace halftone::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return has_plus ? text.substr(1) : text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Numbers of few digits and no exponent, as most in CSV are: digits and power of ten are f32
/// exactly, so that their quotient is the nearest one (Clinger, "How to read floating point numbers
/// accurately", 1990). False where the text is none of these.
bool read_short(std::string_view text, float& value) {
  constexpr float kPowers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f};
  constexpr std::size_t kMostDigits = 8;
  constexpr std::uint32_t kMost = 1u << 24;
  const bool is_negative = !text.empty() && text[0] == '-';
  std::size_t i = is_negative ? 1 : 0, digits = 0, behind_point = 0;
  std::uint32_t whole = 0;
  if (text.size() - i > kMostDigits + 1) return false;
  for (; i < text.size() && is_digit(text[i]); ++i, ++digits)
    whole = 10 * whole + static_cast<std::uint32_t>(text[i] - '0');
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && is_digit(text[i]); ++i, ++digits, ++behind_point)
      whole = 10 * whole + static_cast<std::uint32_t>(text[i] - '0');
  }
  if (i != text.size() || digits == 0 || whole > kMost) return false;
  const float magnitude = static_cast<float>(whole) / kPowers[behind_point];
  value = is_negative ? -magnitude : magnitude;
  return true;
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
  if (read_short(text, value)) return nullptr;
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

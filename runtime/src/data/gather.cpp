// SPDX-License-Identifier: Apache-2.0
#include "gather.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "../floating_point.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone::data {
namespace {

/// Sources lie at any alignment.
template <class Element>
Element loaded(const std::byte* at) {
  Element element;
  std::memcpy(&element, at, sizeof element);
  return element;
}

float as_f32(F16 value) {
  constexpr std::uint32_t kRebias = (127 - 15) << 23, kInfinity = 0x1f << 10;
  const std::uint32_t magnitude = value.code & 0x7fffu, sign = (value.code & 0x8000u) << 16;
  const std::uint32_t normal = (magnitude << 13) + kRebias;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  const std::uint32_t special = magnitude > kInfinity ? 0x7fffffffu : 0x7f800000u;  // one NaN (F3)
  const std::uint32_t bits = magnitude >= kInfinity ? special
                             : magnitude < 0x400u   ? subnormal
                                                    : normal;
  return std::bit_cast<float>(sign | bits);
}
float as_f32(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.code} << 16); }
float as_f32(auto value) { return static_cast<float>(value); }

/// False where a finite value became infinite.
template <class Element>
bool stays_finite(Element value, float converted) {
  if constexpr (std::is_same_v<Element, double>)
    return !std::isinf(converted) || std::isinf(value);
  else
    return true;
}

/// Whether all fit.
template <class Element>
bool convert(const std::byte* from, std::int64_t count, float* to, const Conversion& how) {
  bool fits = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = loaded<Element>(from + i * static_cast<std::int64_t>(sizeof(Element)));
    const float converted = as_f32(value);
    fits &= stays_finite(value, converted);
    to[i] = converted;
  }
  if (how.scale == 1.0f && how.offset == 0.0f) return fits;  // no -0 becomes +0
  for (std::int64_t i = 0; i < count; ++i) {
    const float scaled = to[i] * how.scale;
    to[i] = scaled + how.offset;
  }
  return fits;
}

template <class Element>
bool convert(const std::byte* from, std::int64_t count, std::int32_t* to, const Conversion&) {
  if constexpr (!std::is_integral_v<Element>) {
    return false;  // make_column() has none such
  } else {
    bool fits = true;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = loaded<Element>(from + i * static_cast<std::int64_t>(sizeof(Element)));
      fits &= std::in_range<std::int32_t>(value);
      to[i] = static_cast<std::int32_t>(value);  // NOLINT: an i8 is a number here
    }
    return fits;
  }
}

std::string value_text(F16 value) { return number_text(as_f32(value)); }
std::string value_text(Bf16 value) { return number_text(as_f32(value)); }
std::string value_text(std::floating_point auto value) { return number_text(value); }
std::string value_text(std::integral auto value) { return std::to_string(value); }

template <class Element, class To>
[[noreturn]] void refuse(const Column& column, std::int64_t row, const std::byte* from) {
  const std::int64_t bytes = sizeof(Element);
  std::int64_t at = 0;
  To ignored{};
  while (at + 1 < column.count && convert<Element>(from + at * bytes, 1, &ignored, {})) ++at;
  const bool is_i32 = std::is_same_v<To, std::int32_t>;
  throw Error({.operation = "loader",
               .object = named("input", column.input),
               .cause = "has " + value_text(loaded<Element>(from + at * bytes)) + " in row " +
                        std::to_string(row) + " of " + column.source + ", which " +
                        (is_i32 ? "i32" : "f32") + " cannot hold",
               .hint = "store values that it holds"});
}

/// Has the beginning of a row on its way into the cache: rows of a shuffled order are where no
/// processor looks for them by itself.
void prefetch(const Column& column, std::int64_t row) {
  constexpr std::int64_t kLine = 64, kMost = 1024;
  const std::byte* const begin = column.begin + row * column.row_bytes;
  for (std::int64_t at = 0; at < std::min(column.row_bytes, kMost); at += kLine)
    __builtin_prefetch(begin + at);
}

/// By runs of rows that lie one behind another, since a run is converted at once.
template <class Element, class To>
void gather_as(const Column& column, std::span<const std::int64_t> rows, To* to) {
  constexpr bool kAsIs = std::is_same_v<Element, To>;
  const bool scales = column.convert.scale != 1.0f || column.convert.offset != 0.0f;
  constexpr std::size_t kAhead = 4;
  const bool is_dense =
      column.row_bytes == column.count * static_cast<std::int64_t>(sizeof(Element));
  for (std::size_t i = 0; i < rows.size();) {
    if (i + kAhead < rows.size()) prefetch(column, rows[i + kAhead]);
    std::size_t run = 1;
    while (is_dense && i + run < rows.size() &&
           rows[i + run] == rows[i] + static_cast<std::int64_t>(run))
      ++run;
    const std::byte* from = column.begin + rows[i] * column.row_bytes;
    const std::int64_t count = static_cast<std::int64_t>(run) * column.count;
    if (kAsIs && !scales) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
    } else if (!convert<Element>(from, count, to, column.convert)) {
      std::int64_t row = rows[i];
      while (convert<Element>(from, column.count, to, column.convert)) {
        from += column.row_bytes;
        ++row;
      }
      refuse<Element, To>(column, row, from);
    }
    to += count;
    i += run;
  }
}

/// Elements that are handed over as they are.
template <class To>
void gather_rows(const Column& column, std::span<const std::int64_t> rows, To* to) {
  constexpr std::size_t kAhead = 4;
  const auto bytes = static_cast<std::size_t>(column.count) * sizeof(To);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) prefetch(column, rows[i + kAhead]);
    std::memcpy(to + static_cast<std::int64_t>(i) * column.count,
                column.begin + rows[i] * column.row_bytes, bytes);
  }
}

template <class To>
void gather_from(const Column& column, std::span<const std::int64_t> rows, To* to) {
  switch (column.stored) {
    case Stored::u8:
      return gather_as<std::uint8_t>(column, rows, to);
    case Stored::i8:
      return gather_as<std::int8_t>(column, rows, to);
    case Stored::u16:
      return gather_as<std::uint16_t>(column, rows, to);
    case Stored::i16:
      return gather_as<std::int16_t>(column, rows, to);
    case Stored::u32:
      return gather_as<std::uint32_t>(column, rows, to);
    case Stored::i32:
      return gather_as<std::int32_t>(column, rows, to);
    case Stored::u64:
      return gather_as<std::uint64_t>(column, rows, to);
    case Stored::i64:
      return gather_as<std::int64_t>(column, rows, to);
    case Stored::f16:
      return gather_as<F16>(column, rows, to);
    case Stored::bf16:
      return gather_as<Bf16>(column, rows, to);
    case Stored::f32:
      return gather_as<float>(column, rows, to);
    case Stored::f64:
      return gather_as<double>(column, rows, to);
  }
}

}  // namespace

void gather(const Column& column, std::span<const std::int64_t> rows, const BatchValues& to) {
  const StandardFloatingPoint mode;
  std::visit(
      [&](const auto& span) {
        using To = typename std::decay_t<decltype(span)>::element_type;
        if constexpr (std::is_same_v<To, float> || std::is_same_v<To, std::int32_t>)
          gather_from(column, rows, span.data());
        else
          gather_rows(column, rows, span.data());
      },
      to);
}

}  // namespace halftone::data

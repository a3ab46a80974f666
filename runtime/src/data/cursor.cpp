// SPDX-License-Identifier: Apache-2.0
#include "cursor.hpp"

#include <charconv>

#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone::data {
namespace {

struct Field {
  std::string_view name;
  std::uint64_t Cursor::* value;
  int base;
  const char* hint;  ///< where it differs; null where it may
};

constexpr std::string_view kBegin = "loader 1";
constexpr Field kFields[] = {
    {"data", &Cursor::data, 16, "give the loader the inputs, shapes, slices and splits of then"},
    {"rows", &Cursor::rows, 10, "give the loader the rows of then"},
    {"batch", &Cursor::batch, 10, "give the loader the batch of then"},
    {"seed", &Cursor::seed, 10, "give the loader the seed of then"},
    {"shuffle", &Cursor::shuffle, 10, "let the loader shuffle as then"},
    {"drop_last", &Cursor::drop_last, 10, "let the loader drop the last batch as then"},
    {"epoch", &Cursor::epoch, 10, nullptr},
    {"next", &Cursor::next, 10, nullptr}};

std::string digits_of(std::uint64_t value, int base) {
  char text[24];
  std::string digits(text, std::to_chars(text, text + sizeof text, value, base).ptr);
  if (base == 16) digits.insert(0, 16 - digits.size(), '0');
  return digits;
}

/// Takes " name=digits" from the beginning of the text.
bool take(std::string_view& text, const Field& field, std::uint64_t& value) {
  const std::string begin = " " + std::string(field.name) + "=";
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, field.base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

[[noreturn]] void refuse(std::string cause, std::string hint) {
  throw Error({.operation = "seek",
               .object = "the cursor",
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

}  // namespace

std::string Cursor::text() const {
  std::string text(kBegin);
  for (const Field& field : kFields)
    ((text += ' ') += field.name) += '=' + digits_of(this->*field.value, field.base);
  return text;
}

Cursor parse_cursor(std::string_view text, const Cursor& own) {
  const std::string whole = "is none: '" + std::string(text.substr(0, 120)) + "'";
  constexpr const char* kHint = "give what cursor() of a loader gave";
  if (!text.starts_with(kBegin)) refuse(whole, kHint);
  text.remove_prefix(kBegin.size());
  Cursor cursor;
  for (const Field& field : kFields)
    if (!take(text, field, cursor.*field.value)) refuse(whole, kHint);
  if (!text.empty()) refuse(whole, kHint);
  for (const Field& field : kFields) {
    const std::uint64_t theirs = cursor.*field.value, ours = own.*field.value;
    if (field.hint == nullptr || theirs == ours) continue;
    refuse("is of " + std::string(field.name) + " " + digits_of(theirs, field.base) +
               ", but this loader's is " + digits_of(ours, field.base),
           field.hint);
  }
  return cursor;
}

}  // namespace halftone::data

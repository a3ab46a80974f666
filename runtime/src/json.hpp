// SPDX-License-Identifier: Apache-2.0
// JSON as it is written.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "text.hpp"
#include "utf8.hpp"

namespace halftone {

/// An object or array as it grows.
class Json {
 public:
  explicit Json(char open) : close_(open == '{' ? '}' : ']') { text_ += open; }

  Json& name(std::string_view name) {
    next();
    append_json_text(text_, name);
    text_ += ':';
    is_first_ = true;
    return *this;
  }
  Json& add(std::string_view text) {
    next();
    append_json_text(text_, text);
    return *this;
  }
  Json& add(const char* text) { return add(std::string_view(text)); }
  Json& add(bool value) { return raw(value ? "true" : "false"); }
  Json& add(std::integral auto value) { return raw(std::to_string(value)); }
  /// What is no number is a word that JavaScript's Number() and Python's float() take.
  Json& add(std::floating_point auto value) {
    if (std::isfinite(value)) return raw(number_text(value));
    return add(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
  Json& add_null() { return raw("null"); }
  Json& add(const Json& json) { return raw(json.text()); }

  template <class Value>
  Json& add(std::string_view key, const Value& value) {
    return name(key).add(value);
  }

  [[nodiscard]] std::string text() const { return text_ + close_; }

 private:
  void next() {
    if (!is_first_) text_ += ',';
    is_first_ = false;
  }
  Json& raw(std::string_view text) {
    next();
    text_ += text;
    return *this;
  }

  std::string text_;
  char close_;
  bool is_first_ = true;
};

template <class Items, class Add>
Json array_of(const Items& items, Add add) {
  Json json('[');
  for (const auto& item : items) add(json, item);
  return json;
}

template <class Items>
Json array_of(const Items& items) {
  return array_of(items, [](Json& json, const auto& item) { json.add(item); });
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// What is counted of a value, read back from run logs and bisect.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "halftone/value_statistics.hpp"

namespace halftone::tools {

/// JSON that is none of ours. All below throw it, or json::exception.
struct Damaged : std::runtime_error {
  Damaged() : std::runtime_error("") {}
};

/// Numbers, and the words for those that JSON has not.
[[nodiscard]] double number_or_word(const nlohmann::json& value);

template <class Value>
concept Whole = std::is_integral_v<Value> && !std::is_same_v<Value, bool>;

/// A number that is whole and fits; json itself would cast whatever number there is.
template <Whole Value>
[[nodiscard]] Value whole_number(const nlohmann::json& from) {
  if (!from.is_number_integer()) throw Damaged();
  const auto take = [](auto number) {
    if (!std::in_range<Value>(number)) throw Damaged();
    return static_cast<Value>(number);
  };
  return from.is_number_unsigned() ? take(from.get<std::uint64_t>())
                                   : take(from.get<std::int64_t>());
}

template <class Value>
void read_value(const nlohmann::json& from, Value& to) {
  from.get_to(to);
}
template <Whole Value>
void read_value(const nlohmann::json& from, Value& to) {
  to = whole_number<Value>(from);
}
template <Whole Value>
void read_value(const nlohmann::json& from, std::vector<Value>& to) {
  if (!from.is_array()) throw Damaged();
  to.clear();
  for (const nlohmann::json& each : from) to.push_back(whole_number<Value>(each));
}

/// Of a file that was written before there were magnitudes of what is rounded they are empty.
[[nodiscard]] ValueStatistics value_from(const nlohmann::json& from);

}  // namespace halftone::tools

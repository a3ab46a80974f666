// SPDX-License-Identifier: Apache-2.0
#include "value_file.hpp"

#include <limits>
#include <string>

namespace halftone::tools {

using nlohmann::json;

double number_or_word(const json& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return value.get<double>();
  const auto word = value.get<std::string>();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity") return kInfinity;
  if (word == "-Infinity") return -kInfinity;
  throw Damaged();
}

ValueStatistics value_from(const json& from) {
  ValueStatistics value;
  const auto get = [&](const char* key, auto& to) { read_value(from.at(key), to); };
  const auto get_number = [&](const char* key, double& to) { to = number_or_word(from.at(key)); };
  get("layer", value.layer);
  get("op", value.op);
  get("pass", value.pass);
  get("role", value.role);
  get("elements", value.elements);
  get("zeros", value.zeros);
  get("infinite", value.infinite);
  get("not_a_number", value.not_a_number);
  get_number("least", value.least);
  get_number("greatest", value.greatest);
  get("first_exponent", value.first_exponent);
  get("exponents", value.exponents);
  get("format", value.format);
  get("rule", value.rule);
  get_number("error", value.error);
  get("flushed", value.flushed);
  get("overflowed", value.overflowed);
  get("saturated", value.saturated);
  if (!from.contains("exponents_before")) return value;
  get("first_exponent_before", value.first_exponent_before);
  get("exponents_before", value.exponents_before);
  return value;
}

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
// What is counted of a value, as run logs and bisect.json have it.
#pragma once

#include "halftone/value_statistics.hpp"
#include "json.hpp"

namespace halftone {

inline Json json_of(const ValueStatistics& value) {
  Json json('{');
  json.add("layer", value.layer).add("op", value.op).add("pass", value.pass);
  json.add("role", value.role).add("elements", value.elements).add("zeros", value.zeros);
  json.add("infinite", value.infinite).add("not_a_number", value.not_a_number);
  json.add("least", value.least).add("greatest", value.greatest);
  json.add("first_exponent", value.first_exponent).add("exponents", array_of(value.exponents));
  json.add("format", value.format).add("rule", value.rule).add("error", value.error);
  json.add("flushed", value.flushed).add("overflowed", value.overflowed);
  json.add("saturated", value.saturated);
  json.add("first_exponent_before", value.first_exponent_before);
  return json.add("exponents_before", array_of(value.exponents_before));
}

}  // namespace halftone

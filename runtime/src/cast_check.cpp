// SPDX-License-Identifier: Apache-2.0
#include "halftone/cast_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "floating_point.hpp"
#include "formats.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

/// Rounded and as f32 again.
float rounded(float value, encoding::Element to) {
  if (!encoding::is_narrow(to)) return value;
  const std::uint32_t code = narrowed(to, value);
  std::byte bytes[sizeof code];
  std::memcpy(bytes, &code, sizeof code);
  return element_of(bytes, to, 0);
}

}  // namespace

CastCheck check_cast(std::span<const float> values, encoding::Element to) {
  const encoding::ElementTraits& traits = encoding::traits(to);
  if (traits.integer || !traits.stored) {
    throw Error({.operation = "check_cast",
                 .object = std::string("format ") + traits.word,
                 .cause = "is no float that tensors are stored in",
                 .hint = "ask for f16, bf16, f8e4m3, f8e5m2 or f32"});
  }
  const StandardFloatingPoint mode;
  const float least_normal = std::ldexp(1.0f, encoding::least_normal(traits));
  CastCheck check{.values = std::ssize(values)};
  const auto fault = [&](std::size_t i, std::int64_t& count) {
    if (check.first_fault < 0) check.first_fault = static_cast<std::int64_t>(i);
    ++count;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float magnitude = std::fabs(values[i]);
    if (!std::isfinite(magnitude)) {
      fault(i, check.not_finite);
      continue;
    }
    check.largest = std::max(check.largest, magnitude);
    if (magnitude == 0.0f) continue;
    check.smallest = check.smallest == 0.0f ? magnitude : std::min(check.smallest, magnitude);
    const float result = rounded(magnitude, to);
    if (!std::isfinite(result)) {
      fault(i, check.overflows);
    } else if (result == 0.0f) {
      ++check.underflows;
    } else if (result < least_normal) {
      ++check.subnormals;
    } else {
      const double value = magnitude;
      check.worst_error = std::max(check.worst_error, std::fabs(result - value) / value);
    }
  }
  return check;
}

}  // namespace halftone

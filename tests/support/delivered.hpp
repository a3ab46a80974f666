// SPDX-License-Identifier: Apache-2.0
// Integers as a model's input takes them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "halftone/dataset.hpp"
#include "halftone/encoding/traits.hpp"
#include "halftone/values.hpp"

namespace halftone::tests {

/// The largest number of an integer element that i32 holds, too; the least is -1 less it, or 0.
inline std::int32_t largest(encoding::Element element) {
  const encoding::ElementTraits& traits = encoding::traits(element);
  const int bits = traits.bits - (traits.has_sign ? 1 : 0);
  return bits < 31 ? (std::int32_t{1} << bits) - 1 : std::numeric_limits<std::int32_t>::max();
}
inline bool holds(encoding::Element element, std::int32_t number) {
  const std::int32_t least = encoding::traits(element).has_sign ? -1 - largest(element) : 0;
  return least <= number && number <= largest(element);
}

template <class To>
std::vector<To> as(const std::vector<std::int32_t>& numbers) {
  std::vector<To> values;
  for (const std::int32_t number : numbers) values.push_back(static_cast<To>(number));
  return values;
}

/// In vectors of the element's type.
inline OfElements<VectorOf> delivered(encoding::Element element,
                                      const std::vector<std::int32_t>& numbers) {
  using encoding::Element;
  switch (element) {
    case Element::u8:
      return as<std::uint8_t>(numbers);
    case Element::i8:
      return as<std::int8_t>(numbers);
    case Element::u16:
      return as<std::uint16_t>(numbers);
    case Element::i16:
      return as<std::int16_t>(numbers);
    case Element::i64:
      return as<std::int64_t>(numbers);
    default:
      return numbers;
  }
}

/// A view of them; `name` and `values` stay where they are.
inline NamedValues named(std::string_view name, const OfElements<VectorOf>& values) {
  return std::visit([&](const auto& vector) { return NamedValues{name, std::span(vector)}; },
                    values);
}

}  // namespace halftone::tests

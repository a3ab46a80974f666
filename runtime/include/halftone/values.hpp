// SPDX-License-Identifier: Apache-2.0
// Named values on their way into a model: what the generated API of a model passes to the
// type-erased runtime.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>

#include "halftone/encoding/element.hpp"

namespace halftone {

/// A number of 16 bits, as its code (F1 of docs/spec/precision.md).
struct F16 {
  std::uint16_t code = 0;
  bool operator==(const F16&) const = default;
};
struct Bf16 {
  std::uint16_t code = 0;
  bool operator==(const Bf16&) const = default;
};

/// What the elements of inputs are to C++, each in a span, a vector or the like.
template <template <class> class Of>
using OfElements =
    std::variant<Of<float>, Of<std::int32_t>, Of<std::uint8_t>, Of<std::int8_t>, Of<std::uint16_t>,
                 Of<std::int16_t>, Of<std::int64_t>, Of<F16>, Of<Bf16>>;

/// In the order of OfElements: what each is to a model.
inline constexpr encoding::Element kElementsOfValues[] = {
    encoding::Element::f32, encoding::Element::i32, encoding::Element::u8,
    encoding::Element::i8,  encoding::Element::u16, encoding::Element::i16,
    encoding::Element::i64, encoding::Element::f16, encoding::Element::bf16};

template <class T>
using ConstSpan = std::span<const T>;

/// A tensor's elements, row-major, in the caller's memory; copied before the call that takes it
/// returns. They are of the element that the input is declared in; floats of an f16 or bf16 input
/// may be f32, too, and are rounded on their way.
struct NamedValues {
  std::string_view name;
  OfElements<ConstSpan> values;
};

/// A size as a caller has it: of any integer type, so that `.batch = values.size()` takes no cast.
/// Whoever uses it refuses what is not positive, or too large.
class Size {
 public:
  constexpr Size() = default;

  template <std::integral Integer>
  constexpr Size(Integer value) noexcept {  // NOLINT: implicit, as between integers
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    value_ = value > Integer{0} && static_cast<std::uint64_t>(value) > std::uint64_t{kMost}
                 ? kMost
                 : static_cast<std::int64_t>(value);
  }

  constexpr operator std::int64_t() const noexcept { return value_; }  // NOLINT: likewise

 private:
  std::int64_t value_ = 0;
};

/// The size that a symbol of the model stands for: {"batch", 32}.
struct Binding {
  std::string_view symbol;
  std::int64_t value = 0;
};

/// What a generated class knows when it is compiled; refuses another model's artifact.
struct Setup {
  std::string_view model;             ///< expected name, or empty for any
  std::span<const Binding> bindings;  ///< every symbol of the model once
  std::uint64_t seed = 0;             ///< of the initial parameters and draws
  std::uint64_t structure = 0;        ///< expected digest of the model, or 0 for any
  std::string_view stage = {};        ///< that it begins in; empty: the model's first (P66)
};

}  // namespace halftone

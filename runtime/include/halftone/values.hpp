// SPDX-License-Identifier: Apache-2.0
// Named values on their way into a model: what the generated API of a model passes to the
// type-erased runtime.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace halftone {

/// A tensor's elements, row-major, in the caller's memory; copied before the call that takes it
/// returns.
struct NamedValues {
  std::string_view name;
  std::variant<std::span<const float>, std::span<const std::int32_t>> values;
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
  std::uint64_t seed = 0;             ///< of the initial parameters
};

}  // namespace halftone

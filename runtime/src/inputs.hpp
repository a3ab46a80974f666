// SPDX-License-Identifier: Apache-2.0
// Named values into their buffers: all are checked before any is copied.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bind.hpp"
#include "halftone/values.hpp"

namespace halftone {

/// What is wrong with a span that has a size and no address.
inline constexpr const char *kNullValues = "was given a null pointer",
                            *kNullValuesHint = "give the address of its first value";

/// A value that may be given: its name in the API, and the buffer that takes it.
struct Place {
  std::string_view name;
  std::size_t buffer = 0;
};

/// Copies exactly one value into every place. `kind` ("input", "output gradient") and `operation`
/// open the errors.
void copy_in(const BoundProgram& program, const char* operation, const char* kind,
             std::span<const Place> places, std::span<const NamedValues> values);

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Named values into their buffers: all are checked before any is copied.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::int64_t row = 0;  ///< values of a row; 0 where it says nothing of how many rows a run has
};

/// An input under the name of its buffer.
[[nodiscard]] Place input_place(const ProgramPlan& plan, std::size_t buffer);

/// Copies exactly one value into every place, of the sizes in use. `kind` ("input", "output
/// gradient") and `operation` open the errors.
void copy_in(const BoundProgram& program, const char* operation, const char* kind,
             std::span<const Place> places, std::span<const NamedValues> values);

/// The same for the inputs of a run, which has as many rows as they have (D14).
void copy_in_rows(BoundProgram& program, const char* operation, std::span<const Place> inputs,
                  std::span<const NamedValues> values);

}  // namespace halftone

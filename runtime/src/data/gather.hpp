// SPDX-License-Identifier: Apache-2.0
// Rows of a column into a batch: the one place where elements of sources become those of inputs.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "halftone/loader.hpp"
#include "table.hpp"

namespace halftone::data {

using BatchValues = OfElements<SpanOf>;

/// Those rows of the source, one behind another; `to` is of the element that the column converts to
/// and has room for them. Throws Error where it cannot hold a value.
void gather(const Column& column, std::span<const std::int64_t> rows, const BatchValues& to);

}  // namespace halftone::data

// SPDX-License-Identifier: Apache-2.0
// A run's training program as HTML: kernels in order, what each reads and writes, and the casts.
#pragma once

#include <string>

#include "halftone/run_log.hpp"

namespace halftone::tools {

/// One column of boxes, a kernel each; chips left are read, chips right written, all of them,
/// coloured by format; arcs join a value's writer with its readers.
[[nodiscard]] std::string kernel_graph(const RunFacts& facts);

/// A row a cast: value, formats, kernel, and whether the cast has a launch of its own.
[[nodiscard]] std::string cast_table(const RunFacts& facts);

/// The element that a format begins with, which the page's style has a colour for: "f16" of "f16
/// toward_zero".
[[nodiscard]] std::string class_of(const std::string& format);

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
// An artifact's training program as HTML: kernels in order, what each reads and writes, and the
// casts.
#pragma once

#include <halftone/manifest/manifest.hpp>
#include <string>
#include <string_view>

/// `text` with & < > " as entities.
[[nodiscard]] std::string escaped(std::string_view text);

/// One column of boxes, a kernel each; chips left are read, chips right written, all of them,
/// coloured by format; arcs join a value's writer with its readers.
[[nodiscard]] std::string kernel_graph(const halftone::manifest::Manifest& manifest);

/// A row a cast: value, formats, kernel, and whether the cast has a launch of its own.
[[nodiscard]] std::string cast_table(const halftone::manifest::Manifest& manifest);

// SPDX-License-Identifier: Apache-2.0
// Pieces of HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace halftone::tools {

/// `text` with & < > " as entities, and control characters as ?.
[[nodiscard]] std::string escaped(std::string_view text);

/// With so many digits that matter, or whole from 10,000 on: "0.0313", "131072", "1e-09".
[[nodiscard]] std::string figure_text(double value, int digits);

/// In binary units: "442 KiB".
[[nodiscard]] std::string bytes_text(double bytes);

/// A coordinate, to a tenth.
[[nodiscard]] std::string coordinate(double value);

}  // namespace halftone::tools

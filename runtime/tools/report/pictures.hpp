// SPDX-License-Identifier: Apache-2.0
// Pictures of a run log as a page has them: with the bytes of their files, so that it needs none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halftone/run_log.hpp"

namespace halftone::tools {

/// What is drawn of one thing as a run goes on.
struct PictureRow {
  struct Shown {
    std::int64_t step = 0;
    std::string source;  ///< "data:image/png;base64,..."
  };
  std::string name;
  std::size_t logged = 0;  ///< of which those shown are some
  std::vector<Shown> shown;
};

/// Of each name the first picture, the last and others evenly between them, twelve at most, in the
/// order of `logged`. A file that is missing, too large or no picture is left out, and `notes` says
/// so, a sentence each.
[[nodiscard]] std::vector<PictureRow> picture_rows(std::span<const LogPicture> logged,
                                                   std::vector<std::string>& notes);

/// Empty where there is none.
[[nodiscard]] std::string pictures_of(std::span<const PictureRow> rows);

}  // namespace halftone::tools

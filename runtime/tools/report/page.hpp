// SPDX-License-Identifier: Apache-2.0
// `halftone report`: one self-contained HTML page about one run or several.
#pragma once

#include <span>
#include <string>

#include "run_file.hpp"

namespace halftone::tools {

struct PageOptions {
  int reload_seconds = 0;  ///< the page loads itself again so often; 0: never
};

/// Figures of all runs, charts with a curve of each, memory, and of each its rules, kernels and
/// casts. Runs of one name are told apart by their files.
[[nodiscard]] std::string page_of(std::span<const LoggedRun> runs, const PageOptions& options = {});

/// The page's looks, for light and dark screens, and what happens under the mouse.
extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace halftone::tools

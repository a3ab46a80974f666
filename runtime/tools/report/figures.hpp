// SPDX-License-Identifier: Apache-2.0
// The page's tables: a row a figure, a column a run.
#pragma once

#include <span>
#include <string>

#include "run_file.hpp"

namespace halftone::tools {

/// `names` are those of the runs on the page.
[[nodiscard]] std::string figures_table(std::span<const LoggedRun> runs,
                                        std::span<const std::string> names);

/// Bytes by role and format, each with a bar.
[[nodiscard]] std::string memory_table(std::span<const LoggedRun> runs,
                                       std::span<const std::string> names);

/// A line of the run's colour and dashes.
[[nodiscard]] std::string swatch(std::size_t run);

}  // namespace halftone::tools

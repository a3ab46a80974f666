// SPDX-License-Identifier: Apache-2.0
// Programs that a search runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace halftone {

struct ProgramEnd {
  int status = 0;    ///< that it exited with; -1 where a signal ended it
  std::string said;  ///< on standard output and standard error, without the end of the last line
};

/// Waits for a program by path, or by name on PATH. What it says goes by way of `log`, a file that
/// is replaced and removed. Throws Error where it cannot be started; `hint` ends the sentence.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& words,
                                     const std::filesystem::path& log, const char* hint);

}  // namespace halftone

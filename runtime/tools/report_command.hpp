// SPDX-License-Identifier: Apache-2.0
// `halftone report`: a page about run logs, once or while the runs go on.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace halftone::tools {

struct ReportTask {
  std::vector<std::string> runs;  ///< files, one at least
  std::string page;               ///< empty: beside the first run, RUN.html
  bool follow = false;            ///< until all of them have ended
  int seconds = 2;                ///< from one page to the next, at least
};

/// Writes the page; `say` gets a line of text for people at the first page and at the last, and
/// `note` what was left out. Throws, in one sentence, where a file is no run log or the page cannot
/// be written.
void report(const ReportTask& task, const std::function<void(const std::string&)>& say,
            const std::function<void(const std::string&)>& note);

}  // namespace halftone::tools

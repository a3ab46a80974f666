// SPDX-License-Identifier: Apache-2.0
#include "report_command.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "files/replace_file.hpp"
#include "report/bisect_file.hpp"
#include "report/bisect_page.hpp"
#include "report/page.hpp"

namespace halftone::tools {
namespace {

std::string page_for(const ReportTask& task) {
  if (!task.page.empty()) return task.page;
  return std::filesystem::path(task.runs.front()).replace_extension(".html").string();
}

void require_no_run(const std::string& page, const std::vector<std::string>& runs) {
  for (const std::string& run : runs) {
    std::error_code ignored;
    if (page != run && !std::filesystem::equivalent(page, run, ignored)) continue;
    throw std::runtime_error("the page '" + page +
                             "' would take the place of a run; name another file with --output");
  }
}

bool have_ended(const std::vector<LoggedRun>& runs) {
  return std::ranges::all_of(runs, &LoggedRun::is_ended);
}

std::vector<LoggedRun> read_runs(const std::vector<std::string>& files) {
  std::vector<LoggedRun> runs;
  for (const std::string& file : files) runs.push_back(read_run(file));
  return runs;
}

void write_page(const std::string& page, const std::string& html) {
  const std::array<std::string_view, 1> parts = {html};
  replace_file(system_file_calls(), "report", page, parts, 0);
}

}  // namespace

void report(const ReportTask& task, const std::function<void(const std::string&)>& say,
            const std::function<void(const std::string&)>& note) {
  const std::string page = page_for(task);
  require_no_run(page, task.runs);
  if (task.runs.size() == 1 && is_bisect(task.runs.front())) {
    write_page(page, page_of(read_bisect(task.runs.front())));
    return say(page);
  }
  using Clock = std::chrono::steady_clock;
  std::set<std::string> noted;
  for (bool is_first = true, is_last = false; !is_last; is_first = false) {
    const auto start = Clock::now();
    const std::vector<LoggedRun> runs = read_runs(task.runs);
    is_last = !task.follow || have_ended(runs);
    write_page(page, page_of(runs, {.reload_seconds = is_last ? 0 : task.seconds}));
    for (const LoggedRun& run : runs) {
      for (const std::string& each : run.notes)
        if (noted.insert(each).second) note(each);
    }
    if (is_first || is_last) say(page + (is_last ? "" : ", which follows the runs"));
    if (is_last) return;
    // Long logs are read as a whole: nine tenths of the time go to others.
    const auto took = Clock::now() - start;
    std::this_thread::sleep_for(
        std::max<Clock::duration>(std::chrono::seconds(task.seconds), 9 * took));
  }
}

}  // namespace halftone::tools

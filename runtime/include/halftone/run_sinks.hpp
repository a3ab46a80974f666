// SPDX-License-Identifier: Apache-2.0
// Where a RunLog's entries may go. A program links those that it names; only those for people print
// anything, where they are told to.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "halftone/run_log.hpp"

namespace halftone {

/// What becomes of a log that is there already.
enum class IfExists {
  refuse,
  append,  ///< goes on behind it: of a run that resumed, or one that began again
  replace
};

/// A line of JSON for the facts, for each entry and for the end (docs/run-logs.md); `halftone
/// report` makes a page of it. A line is written whole and at once, so that a killed run leaves all
/// of them. One log at a time writes to a file. Throws Error where it cannot be written.
[[nodiscard]] std::unique_ptr<RunSink> json_lines(const std::filesystem::path& file,
                                                  IfExists if_exists = IfExists::refuse);

/// An event file of scalars for TensorBoard, in a folder that is made where it is missing; every
/// run that goes on adds a file.
[[nodiscard]] std::unique_ptr<RunSink> tensorboard_events(const std::filesystem::path& folder);

struct PrometheusOptions {
  std::chrono::milliseconds at_most_every{5000};  ///< the end is always written
  /// Beside `model` and `run`: {"host", "a"}.
  std::vector<std::pair<std::string, std::string>> labels = {};
};

/// The latest entry in Prometheus's text format, in a file that is replaced as a whole, as
/// node_exporter's textfile collector wants it (FILE.prom).
[[nodiscard]] std::unique_ptr<RunSink> prometheus_text(const std::filesystem::path& file,
                                                       const PrometheusOptions& options = {});

struct ProgressOptions {
  std::int64_t steps = 0;  ///< of the whole run, those before a resumed one included; 0: unknown
  std::chrono::milliseconds redraw_every{100};   ///< on a terminal
  std::chrono::milliseconds line_every{10'000};  ///< elsewhere
};

/// How far the run is: rate, time left, losses, loss scale, skipped steps. On a terminal one line
/// that is drawn again and again, elsewhere plain lines. `stream` must outlive it.
[[nodiscard]] std::unique_ptr<RunSink> progress(std::FILE* stream,
                                                const ProgressOptions& options = {});

/// A line for every entry, with all that is in it.
[[nodiscard]] std::unique_ptr<RunSink> step_lines(std::FILE* stream);

enum class LogChoice { off, progress, steps };

/// What HALFTONE_LOG names: null for "off", progress() for "progress", step_lines() for "steps";
/// `otherwise` where it is unset. Throws Error on anything else.
[[nodiscard]] std::unique_ptr<RunSink> sink_of_environment(std::FILE* stream,
                                                           LogChoice otherwise = LogChoice::off,
                                                           const ProgressOptions& options = {});

}  // namespace halftone

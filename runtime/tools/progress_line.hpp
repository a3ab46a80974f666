// SPDX-License-Identifier: Apache-2.0
// How far long work is: one line on standard error that is drawn again on a terminal, and elsewhere
// a line now and then of work that takes longer than those.
#pragma once

#include <chrono>
#include <string>

namespace halftone::tools {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// May be called often: what comes too soon is left out.
  void operator()(const std::string& text);

  /// Takes the line away, before another one is printed.
  void clear();

 private:
  [[nodiscard]] bool is_due() const;

  bool is_terminal_, is_shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// "12.3 MB"
[[nodiscard]] std::string megabytes(std::size_t bytes);

}  // namespace halftone::tools

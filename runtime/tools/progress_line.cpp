// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace halftone::tools {

ProgressLine::ProgressLine() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::clear() {
  if (is_shown_ && is_terminal_) std::fputs("\r\x1b[K", stderr);
  is_shown_ = false;
}

bool ProgressLine::is_due() const {
  using std::chrono::milliseconds;
  return std::chrono::steady_clock::now() - last_ >= milliseconds(is_terminal_ ? 200 : 10000);
}

void ProgressLine::operator()(const std::string& text) {
  if (!is_due()) return;
  last_ = std::chrono::steady_clock::now();
  is_shown_ = true;
  std::fputs(is_terminal_ ? ("\r" + text + "\x1b[K").c_str() : (text + "\n").c_str(), stderr);
}

std::string megabytes(std::size_t bytes) {
  const std::size_t tenths = bytes / 100000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

}  // namespace halftone::tools

// SPDX-License-Identifier: Apache-2.0
// A descriptor that is closed when it goes, and calls that a signal may interrupt.
#pragma once

#include <cerrno>
#include <utility>

#include "file_calls.hpp"

namespace halftone {

/// call() again while a signal interrupts it; not for ever, so that nothing can hang here.
template <class Call>
[[nodiscard]] auto uninterrupted(Call call) {
  auto result = call();
  for (int i = 0; i < 100 && result == -1 && errno == EINTR; ++i) result = call();
  return result;
}

/// Holds -1, and leaves errno, where the file could not be opened.
class OpenFile {
 public:
  OpenFile(FileCalls& calls, int folder, const std::string& name, int flags, mode_t mode = 0)
      : calls_(calls),
        file_(uninterrupted([&] { return calls.open_at(folder, name.c_str(), flags, mode); })) {}
  ~OpenFile() { (void)close(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  explicit operator bool() const noexcept { return file_ != -1; }
  [[nodiscard]] int get() const noexcept { return file_; }

  /// 0, or -1 with errno: what was written may be lost. The descriptor is gone in both cases.
  [[nodiscard]] int close() {
    const int file = std::exchange(file_, -1);
    return file == -1 ? 0 : calls_.close(file);
  }

 private:
  FileCalls& calls_;
  int file_;
};

}  // namespace halftone

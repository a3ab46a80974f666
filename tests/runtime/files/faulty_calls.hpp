// SPDX-License-Identifier: Apache-2.0
// The real calls, except that one of them fails, or ends the process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <string>

#include "files/file_calls.hpp"

namespace halftone::tests {

class FaultyCalls final : public FileCalls {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();

  int fails_at = kNever;  ///< the call, counted from 0 over all of them
  int failure = EIO;
  bool keeps_failing = false;  ///< every call after it too
  int kills_at = kNever;       ///< before that call, counted over those that change something
  bool kills_late = false;     ///< when half of a write is done
  std::size_t longest_write = std::numeric_limits<std::size_t>::max();
  std::size_t longest_read = std::numeric_limits<std::size_t>::max();
  std::chrono::hours later{0};  ///< added to the clock

  [[nodiscard]] int calls() const noexcept { return calls_; }
  [[nodiscard]] int changes() const noexcept { return changes_; }
  /// A letter for each of those: open, make folder, write, truncate (x), synchronize, rename, link
  /// (n), unlink, lock, touch.
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

  int open(const char* path, int flags) override {
    return fails() ? -1 : FileCalls::open(path, flags);
  }
  int open_at(int folder, const char* name, int flags, mode_t mode) override {
    if (flags & O_CREAT) change('o');
    return fails() ? -1 : FileCalls::open_at(folder, name, flags, mode);
  }
  int close(int file) override {
    const bool failed = fails();
    const int code = errno;
    const int result = FileCalls::close(file);  // as Linux does: the descriptor is gone anyway
    errno = code;
    return failed ? -1 : result;
  }
  int make_folder(const char* path, mode_t mode) override {
    change('m');
    return fails() ? -1 : FileCalls::make_folder(path, mode);
  }
  ssize_t read(int file, void* bytes, std::size_t count) override {
    return fails() ? -1 : FileCalls::read(file, bytes, std::min(count, longest_read));
  }
  ssize_t write(int file, const void* bytes, std::size_t count) override {
    count = std::min(count, longest_write);
    if (kills_late && changes_ == kills_at) (void)FileCalls::write(file, bytes, (count + 1) / 2);
    change('w');
    return fails() ? -1 : FileCalls::write(file, bytes, count);
  }
  int truncate(int file) override {
    change('x');
    return fails() ? -1 : FileCalls::truncate(file);
  }
  int synchronize(int) override {  // nothing here loses power
    change('s');
    return fails() ? -1 : 0;
  }
  int rename_at(int folder, const char* from, const char* to) override {
    change('r');
    return fails() ? -1 : FileCalls::rename_at(folder, from, to);
  }
  int link_at(int folder, const char* from, const char* to) override {
    change('n');
    return fails() ? -1 : FileCalls::link_at(folder, from, to);
  }
  int unlink_at(int folder, const char* name) override {
    change('u');
    return fails() ? -1 : FileCalls::unlink_at(folder, name);
  }
  int status(int file, struct stat& status) override {
    return fails() ? -1 : FileCalls::status(file, status);
  }
  int status_at(int folder, const char* name, struct stat& status) override {
    return fails() ? -1 : FileCalls::status_at(folder, name, status);
  }
  int try_lock(int file) override {
    change('l');
    return fails() ? -1 : FileCalls::try_lock(file);
  }
  int touch(int file) override {
    change('t');
    return fails() ? -1 : FileCalls::touch(file);
  }
  int list(int folder, std::vector<std::string>& names) override {
    return fails() ? -1 : FileCalls::list(folder, names);
  }
  std::chrono::system_clock::time_point now() override { return FileCalls::now() + later; }

 private:
  void change(char letter) {
    log_ += letter;
    if (changes_++ == kills_at) kill(getpid(), SIGKILL);
  }
  bool fails() {
    const int call = calls_++;
    if (call != fails_at && !(keeps_failing && call > fails_at)) return false;
    errno = failure;
    return true;
  }

  int calls_ = 0, changes_ = 0;
  std::string log_;
};

}  // namespace halftone::tests

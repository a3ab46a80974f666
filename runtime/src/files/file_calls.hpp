// SPDX-License-Identifier: Apache-2.0
// Every call to the operating system that the cache and files that are replaced make, so that tests
// can fail each of them, or die in it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace halftone {

/// The calls of POSIX, with its results: -1 and errno on failure. May be used from any thread.
class FileCalls {
 public:
  virtual ~FileCalls() = default;

  virtual int open(const char* path, int flags);
  virtual int open_at(int folder, const char* name, int flags, mode_t mode);
  virtual int close(int file);
  virtual int make_folder(const char* path, mode_t mode);
  virtual ssize_t read(int file, void* bytes, std::size_t count);
  virtual ssize_t write(int file, const void* bytes, std::size_t count);
  virtual int truncate(int file);                                       ///< to nothing
  virtual int synchronize(int file);                                    ///< fsync
  virtual int rename_at(int folder, const char* from, const char* to);  ///< replaces `to`
  virtual int link_at(int folder, const char* from, const char* to);    ///< another name
  virtual int unlink_at(int folder, const char* name);                  ///< files, never folders
  virtual int status(int file, struct stat& status);                    ///< fstat
  virtual int status_at(int folder, const char* name, struct stat& status);  ///< follows no link
  virtual int try_lock(int file);  ///< flock, exclusive, at once
  virtual int touch(int file);     ///< time of change: now
  /// The names in a folder, in any order, without "." and "..".
  virtual int list(int folder, std::vector<std::string>& names);

  virtual uid_t user();  ///< effective
  virtual std::chrono::system_clock::time_point now();
  virtual void wait(std::chrono::milliseconds time);
};

/// The real ones.
[[nodiscard]] FileCalls& system_file_calls();

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The test program's own calls of the system: each is the C library's, which the linker's next
// definition is, unless it is the one that fails.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <type_traits>

#include "faults.hpp"

namespace {

using halftone::tests::Fault, halftone::tests::fails_now, halftone::tests::failure_now;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool fails(const char* call) {
  if (!fails_now(Fault::system_call, call)) return false;
  errno = failure_now();
  return true;
}

mode_t mode_in(std::va_list& arguments, int flags) {
  return flags & O_CREAT ? static_cast<mode_t>(va_arg(arguments, unsigned)) : mode_t{0};
}

}  // namespace

/// `ends` is noexcept where the C library's header says so.
#define HALFTONE_CALL(result, failed, name, parameters, arguments, ends)    \
  result name parameters ends {                                             \
    static result(*const next) parameters = real<result parameters>(#name); \
    if (fails(#name)) return failed;                                        \
    return next arguments;                                                  \
  }

extern "C" {

int open(const char* path, int flags, ...) {
  static auto* const next = real<int(const char*, int, mode_t)>("open");
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(arguments, flags);
  va_end(arguments);
  return fails("open") ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static auto* const next = real<int(int, const char*, int, mode_t)>("openat");
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(arguments, flags);
  va_end(arguments);
  return fails("openat") ? -1 : next(folder, path, flags, mode);
}

/// As Linux does: the descriptor is gone anyway.
int close(int file) {
  static auto* const next = real<int(int)>("close");
  const bool failed = fails("close");
  const int failure = errno, result = next(file);
  if (failed) errno = failure;
  return failed ? -1 : result;
}

HALFTONE_CALL(std::FILE*, nullptr, fopen, (const char* path, const char* mode), (path, mode), )
HALFTONE_CALL(std::FILE*, nullptr, fopen64, (const char* path, const char* mode), (path, mode), )
HALFTONE_CALL(ssize_t, -1, read, (int file, void* bytes, std::size_t count), (file, bytes, count), )
HALFTONE_CALL(ssize_t, -1, pread, (int file, void* bytes, std::size_t count, off_t at),
              (file, bytes, count, at), )
HALFTONE_CALL(ssize_t, -1, write, (int file, const void* bytes, std::size_t count),
              (file, bytes, count), )
HALFTONE_CALL(int, -1, ftruncate, (int file, off_t bytes), (file, bytes), noexcept)
HALFTONE_CALL(int, -1, renameat, (int from, const char* old, int to, const char* name),
              (from, old, to, name), noexcept)
HALFTONE_CALL(int, -1, linkat, (int from, const char* old, int to, const char* name, int flags),
              (from, old, to, name, flags), noexcept)
HALFTONE_CALL(int, -1, unlinkat, (int folder, const char* name, int flags), (folder, name, flags),
              noexcept)
HALFTONE_CALL(int, -1, mkdir, (const char* path, mode_t mode), (path, mode), noexcept)
HALFTONE_CALL(int, -1, fstat, (int file, struct stat* status), (file, status), noexcept)
HALFTONE_CALL(int, -1, fstatat, (int folder, const char* name, struct stat* status, int flags),
              (folder, name, status, flags), noexcept)
HALFTONE_CALL(int, -1, stat, (const char* path, struct stat* status), (path, status), noexcept)
HALFTONE_CALL(int, -1, lstat, (const char* path, struct stat* status), (path, status), noexcept)
HALFTONE_CALL(int, -1, flock, (int file, int operation), (file, operation), noexcept)
HALFTONE_CALL(int, -1, futimens, (int file, const struct timespec times[2]), (file, times),
              noexcept)
HALFTONE_CALL(void*, MAP_FAILED, mmap,
              (void* at, std::size_t bytes, int access, int flags, int file, off_t begin),
              (at, bytes, access, flags, file, begin), noexcept)
HALFTONE_CALL(int, -1, memfd_create, (const char* name, unsigned flags), (name, flags), noexcept)
HALFTONE_CALL(DIR*, nullptr, fdopendir, (int folder), (folder), )
HALFTONE_CALL(char*, nullptr, getcwd, (char* text, std::size_t bytes), (text, bytes), noexcept)
HALFTONE_CALL(ssize_t, -1, readlink, (const char* path, char* text, std::size_t bytes),
              (path, text, bytes), noexcept)

/// Nothing here loses power.
int fsync(int) { return fails("fsync") ? -1 : 0; }

}  // extern "C"

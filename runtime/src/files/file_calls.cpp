// SPDX-License-Identifier: Apache-2.0
#include "file_calls.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <string_view>
#include <thread>

namespace halftone {
namespace {

/// Until it goes, a write past the limit of file sizes (ulimit -f) fails with EFBIG and sends this
/// thread no SIGXFSZ, which would end the process.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutSizeSignal() {
    const int failure = errno;
    constexpr timespec kAtOnce{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &kAtOnce);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = failure;
  }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  sigset_t signal_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace

int FileCalls::open(const char* path, int flags) { return ::open(path, flags); }
int FileCalls::open_at(int folder, const char* name, int flags, mode_t mode) {
  return ::openat(folder, name, flags, mode);
}
int FileCalls::close(int file) { return ::close(file); }
int FileCalls::make_folder(const char* path, mode_t mode) { return ::mkdir(path, mode); }
ssize_t FileCalls::read(int file, void* bytes, std::size_t count) {
  return ::read(file, bytes, count);
}
ssize_t FileCalls::write(int file, const void* bytes, std::size_t count) {
  const WithoutSizeSignal guard;
  return ::write(file, bytes, count);
}
int FileCalls::truncate(int file) { return ::ftruncate(file, 0); }
int FileCalls::synchronize(int file) { return ::fsync(file); }
int FileCalls::rename_at(int folder, const char* from, const char* to) {
  return ::renameat(folder, from, folder, to);
}
int FileCalls::link_at(int folder, const char* from, const char* to) {
  return ::linkat(folder, from, folder, to, 0);
}
int FileCalls::unlink_at(int folder, const char* name) { return ::unlinkat(folder, name, 0); }
int FileCalls::status(int file, struct stat& status) { return ::fstat(file, &status); }
int FileCalls::status_at(int folder, const char* name, struct stat& status) {
  return ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);
}
int FileCalls::try_lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }
int FileCalls::touch(int file) { return ::futimens(file, nullptr); }

int FileCalls::list(int folder, std::vector<std::string>& names) {
  // A description of its own: reading moves the position that duplicates would share.
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return -1;
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream(::fdopendir(own));
  if (!stream) {
    ::close(own);
    return -1;
  }
  names.clear();
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int failure = errno;
  stream.reset();
  errno = failure;
  return failure == 0 ? 0 : -1;
}

uid_t FileCalls::user() { return ::geteuid(); }
std::chrono::system_clock::time_point FileCalls::now() { return std::chrono::system_clock::now(); }
void FileCalls::wait(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

FileCalls& system_file_calls() {
  static FileCalls calls;
  return calls;
}

}  // namespace halftone

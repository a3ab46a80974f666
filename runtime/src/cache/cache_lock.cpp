// SPDX-License-Identifier: Apache-2.0
#include "cache_lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "../stopping.hpp"
#include "cache_names.hpp"

namespace halftone {
namespace {

constexpr int kOpenLock = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr std::chrono::milliseconds kFirstWait{1}, kLongestWait{32};

}  // namespace

CacheLock::CacheLock(const CacheFolder& folder, std::string_view identity,
                     std::chrono::milliseconds patience)
    : folder_(folder),
      name_(hexadecimal(key_of(identity)) + std::string(kLockSuffix)),
      file_(folder.calls_, folder.folder_, name_, kOpenLock, 0600) {
  if (!file_) return;
  FileCalls& calls = folder_.calls_;
  // The waits are added up, since clocks may be set while somebody waits.
  std::chrono::milliseconds waited{0}, next = kFirstWait;
  while (uninterrupted([&] { return calls.try_lock(file_.get()); }) == -1) {
    if (errno != EWOULDBLOCK || MayStop::of_thread().stop_requested()) return;
    if (waited >= patience) {
      state_ = State::timed_out;
      return;
    }
    calls.wait(next);
    waited += next;
    next = std::min(2 * next, kLongestWait);
  }
  state_ = State::held;
}

CacheLock::~CacheLock() {
  // Whoever waits for this very file finds the entry when it gets the lock; whoever comes later
  // finds it at once. So the name may go, whosever it is by then.
  if (state_ == State::held) folder_.calls_.unlink_at(folder_.folder_, name_.c_str());
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "replace_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "../text.hpp"
#include "halftone/error.hpp"
#include "open_file.hpp"

namespace halftone {
namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr int kCreate = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr int kLook = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr mode_t kMode = 0666;                                    // less the umask
constexpr std::size_t kMostBytesOfAWrite = std::size_t{1} << 30;  // Linux writes 2 GiB at most

struct Fault {
  const char* operation;
  std::string object;

  [[noreturn]] void refuse(std::string cause, std::string hint) const {
    throw Error({.operation = operation,
                 .object = object,
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  }

  /// By errno.
  [[noreturn]] void fail(const char* what, const char* is_safe) const {
    const int failure = errno;
    std::string hint = failure == ENOSPC || failure == EDQUOT   ? "make room for it"
                       : failure == EFBIG                       ? "raise the limit of file sizes"
                       : failure == EMFILE || failure == ENFILE ? "close files"
                       : failure == ENOENT || failure == ENOTDIR
                           ? "check the path, and make its folder first"
                           : "check the path and its permissions";
    refuse(std::string(what) + ": " + std::generic_category().message(failure), hint + is_safe);
  }
};

constexpr const char* kIsSafe = "; what was there before is untouched";

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// The file FILE.saving, which this process alone writes: others are kept off by a lock on a
/// descriptor of its own, which lasts until the file has its name.
class Replacement {
 public:
  Replacement(FileCalls& calls, const Fault& fault, int folder, const std::string& name)
      : calls_(calls), fault_(fault), folder_(folder), name_(name), temporary_(name + ".saving") {
    constexpr int kAttempts = 16;  // others may come between, and must go away again
    for (int i = 0; i < kAttempts && !lock_; ++i) {
      if (!create()) remove_leftover();
    }
    if (!lock_) refuse_busy();
  }

  ~Replacement() {
    if (!is_done_) (void)calls_.unlink_at(folder_, temporary_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = uninterrupted([&] {
        return calls_.write(file_->get(), bytes.data(), std::min(bytes.size(), kMostBytesOfAWrite));
      });
      if (count == 0) errno = EIO;
      if (count <= 0) fault_.fail("cannot be written", kIsSafe);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void make_durable() {
    if (uninterrupted([&] { return calls_.synchronize(file_->get()); }) == -1 ||
        file_->close() == -1)
      fault_.fail("cannot be written", kIsSafe);
  }

  /// FILE.1 becomes FILE.2 and so on, and FILE is FILE.1 too.
  void keep_earlier(int keep) {
    const auto earlier = [&](int i) { return name_ + "." + std::to_string(i); };
    for (int i = keep - 1; i >= 1; --i) rename_if_there(earlier(i), earlier(i + 1));
    if (keep < 1) return;
    const std::string link = name_ + ".keeping";
    (void)calls_.unlink_at(folder_, link.c_str());  // of a process that was killed
    if (calls_.link_at(folder_, name_.c_str(), link.c_str()) == -1) {
      if (is_absent(name_)) return;  // the first file
      fault_.fail("cannot be kept under another name", kIsSafe);
    }
    rename_if_there(link, earlier(1));
    (void)calls_.unlink_at(folder_, link.c_str());  // both names were one file already
  }

  void take_name() {
    if (calls_.rename_at(folder_, temporary_.c_str(), name_.c_str()) == -1)
      fault_.fail("cannot be replaced", kIsSafe);
    is_done_ = true;
    if (uninterrupted([&] { return calls_.synchronize(folder_); }) == -1)
      fault_.fail("is written, but its folder cannot be made durable", "");
  }

 private:
  /// False where the file is there already.
  bool create() {
    file_ = std::make_unique<OpenFile>(calls_, folder_, temporary_, kCreate, kMode);
    if (!*file_) {
      if (errno == EEXIST) return false;
      fault_.fail("cannot be written", kIsSafe);
    }
    lock_ = locked();
    return true;
  }

  /// Of a process that was killed: nobody holds its lock.
  void remove_leftover() {
    if (locked()) (void)calls_.unlink_at(folder_, temporary_.c_str());
  }

  /// A descriptor of FILE.saving with its lock; null where another process has that, or it is no
  /// longer the file of that name.
  std::unique_ptr<OpenFile> locked() {
    auto lock = std::make_unique<OpenFile>(calls_, folder_, temporary_, kLook);
    if (!*lock) {
      if (errno == ENOENT) return nullptr;
      fault_.fail("cannot be written", kIsSafe);
    }
    if (calls_.try_lock(lock->get()) == -1) {
      if (errno == EWOULDBLOCK) refuse_busy();
      fault_.fail("cannot be locked", kIsSafe);
    }
    struct stat held {
    }, named{};
    if (calls_.status(lock->get(), held) == -1 ||
        calls_.status_at(folder_, temporary_.c_str(), named) == -1) {
      if (errno == ENOENT) return nullptr;
      fault_.fail("cannot be written", kIsSafe);
    }
    return is_same(held, named) ? std::move(lock) : nullptr;
  }

  void rename_if_there(const std::string& from, const std::string& to) {
    if (calls_.rename_at(folder_, from.c_str(), to.c_str()) == 0 || is_absent(from)) return;
    fault_.fail("cannot be kept under another name", kIsSafe);
  }

  /// After a call said so: asked once more, since what is taken for absent is overwritten.
  bool is_absent(const std::string& name) {
    const int failure = errno;
    struct stat status {};
    const bool absent = failure == ENOENT &&
                        calls_.status_at(folder_, name.c_str(), status) == -1 && errno == ENOENT;
    errno = failure;
    return absent;
  }

  [[noreturn]] void refuse_busy() const {
    fault_.refuse("is being saved to by another trainer or process",
                  "wait for it, or give each a file of its own");
  }

  FileCalls& calls_;
  const Fault& fault_;
  int folder_;
  std::string name_, temporary_;
  std::unique_ptr<OpenFile> file_, lock_;
  bool is_done_ = false;
};

/// A folder that is closed when it goes.
class Folder {
 public:
  Folder(FileCalls& calls, const Fault& fault, const std::string& path)
      : calls_(calls),
        folder_(uninterrupted([&] { return calls.open(path.c_str(), kOpenFolder); })) {
    if (folder_ == -1) fault.fail("cannot be written, since its folder cannot be opened", "");
  }
  ~Folder() { calls_.close(folder_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] int get() const { return folder_; }

 private:
  FileCalls& calls_;
  int folder_;
};

}  // namespace

void replace_file_in_parts(
    FileCalls& calls, const char* operation, const std::filesystem::path& file,
    const std::function<void(const std::function<void(std::string_view)>&)>& write, int keep) {
  const Fault fault{operation, named("file", file.string())};
  std::error_code ignored;
  // The file that a link leads to is replaced, not the link.
  const std::filesystem::path target = std::filesystem::is_symlink(file, ignored)
                                           ? std::filesystem::weakly_canonical(file, ignored)
                                           : file;
  const std::string name = target.filename().string();
  if (name.empty() || name == "." || name == "..") fault.refuse("is a folder", "name a file in it");
  const std::string parent = target.parent_path().string();
  const Folder folder(calls, fault, parent.empty() ? "." : parent);
  struct stat status {};
  if (calls.status_at(folder.get(), name.c_str(), status) == 0 && !S_ISREG(status.st_mode))
    fault.refuse("is there already and is no regular file", "name another one");
  Replacement replacement(calls, fault, folder.get(), name);
  write([&](std::string_view part) { replacement.write(part); });
  replacement.make_durable();
  replacement.keep_earlier(keep);
  replacement.take_name();
}

void replace_file(FileCalls& calls, const char* operation, const std::filesystem::path& file,
                  std::span<const std::string_view> parts, int keep) {
  const auto write = [&](const std::function<void(std::string_view)>& part_of) {
    for (const std::string_view part : parts) part_of(part);
  };
  replace_file_in_parts(calls, operation, file, write, keep);
}

std::vector<std::byte> read_file(FileCalls& calls, const char* operation,
                                 const std::filesystem::path& file) {
  const Fault fault{operation, named("file", file.string())};
  const OpenFile opened(calls, AT_FDCWD, file.string(), kRead);
  if (!opened) fault.fail("cannot be opened", "");
  struct stat status {};
  if (calls.status(opened.get(), status) == -1) fault.fail("cannot be read", "");
  if (!S_ISREG(status.st_mode)) fault.refuse("is no regular file", "name a file");
  std::vector<std::byte> bytes;
  try {
    bytes.resize(static_cast<std::size_t>(status.st_size));
  } catch (const std::exception&) {
    fault.refuse("is read as a whole and needs " + std::to_string(status.st_size) +
                     " bytes of the host's memory",
                 "free memory");
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = uninterrupted([&] {
      return calls.read(opened.get(), bytes.data() + done,
                        std::min(bytes.size() - done, kMostBytesOfAWrite));
    });
    if (count == -1) fault.fail("cannot be read", "");
    if (count == 0) fault.refuse("became shorter while it was read", "let nobody write to it");
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace halftone
